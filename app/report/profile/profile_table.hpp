// Tables of `rayreplay profile`: shaders of each pipeline, and their blocks.
//
// Contract: docs/surfaces.md lists the keys. Cells of what is not known are empty.
#pragma once

#include <vector>

#include "app/report/export/table.hpp"
#include "capture/profile/shader_profile.hpp"
#include "capture/trace/reader.hpp"

namespace rayreplay::report {

/// `shaders`: of shader_profiles(trace).
[[nodiscard]] output::Table profile_shader_table(const trace::Profile& trace,
                                                 const std::vector<profile::ShaderProfile>& shaders);
[[nodiscard]] output::Table profile_block_table(const trace::Profile& trace,
                                                const std::vector<profile::ShaderProfile>& shaders);

}  // namespace rayreplay::report
