// A launch's shader binding table, its records matched with the pipeline's groups by their handles. Internal.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "capture/ingest/launch_index.hpp"
#include "capture/spool/format.hpp"

namespace rayreplay::ingest {

/// One ShaderRecord per record of each readable region. A record whose handle is not of this pipeline (or zero: no
/// shader) names none; shaders of a wrong stage for their place are left out. A record's data are the bytes between its
/// handle and the next record. `missing`: unreadable regions, one line each.
[[nodiscard]] std::vector<trace::ShaderRecord> read_shader_table(const spool::Launch& launch,
                                                                 const spool::Pipeline* pipeline,
                                                                 std::uint32_t handle_bytes,
                                                                 const std::vector<std::uint8_t>& stages,
                                                                 std::vector<std::string>& missing);

}  // namespace rayreplay::ingest
