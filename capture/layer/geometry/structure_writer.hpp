// Contents into the spool, when a captured launch first needs them.
//
// Contract: `write_structure` appends a Structure block for an unwritten content, for a top level after those of all
// its bottom levels, and frees the bytes; ids count over the process. Returns the id, or spool::kNone if the spool
// could not be written. Complexity: linear in the bytes written.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "capture/layer/geometry/content.hpp"

namespace rayreplay::layer::geometry {

using StructureSink = std::function<bool(const spool::Structure&)>;
/// The application's name of a structure that holds this content.
using NameOfContent = std::function<std::string(const Content&)>;

[[nodiscard]] std::uint32_t write_structure(Content& content, std::uint32_t device, ContentStore& store,
                                            const NameOfContent& name_of, const StructureSink& sink);

}  // namespace rayreplay::layer::geometry
