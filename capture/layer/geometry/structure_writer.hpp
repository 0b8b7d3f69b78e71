// Contents into the spool, when a captured launch first needs them.
//
// Contract: `write_structure` appends a Structure block for a content that was not written yet, for a top level after
// those of all bottom levels that it refers to, and frees the bytes; ids count over the process. Returns the id, or
// spool::kNone if the spool could not be written. Complexity: linear in what is written.
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
