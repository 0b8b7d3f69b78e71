// A launch's shader binding table, its records matched with the pipeline's groups by their handles. Internal.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "capture/ingest/launch_index.hpp"
#include "capture/spool/format.hpp"

namespace rayreplay::ingest {

/// One ShaderRecord for each record of each region that could be read. A record whose handle is not of this pipeline
/// (or zero: no shader) names none; a shader of a stage that cannot stand in its place is left out. A record's data are
/// the bytes behind its handle up to the next record. `missing`: regions that could not be read, a line each.
[[nodiscard]] std::vector<trace::ShaderRecord> read_shader_table(const spool::Launch& launch,
                                                                 const spool::Pipeline* pipeline,
                                                                 std::uint32_t handle_bytes,
                                                                 const std::vector<std::uint8_t>& stages,
                                                                 std::vector<std::string>& missing);

}  // namespace rayreplay::ingest
