// Executions of the blocks of a trace's shaders, summed over the pipelines of each shader.
//
// Contract: `executions_by_shader` takes a checked profile (trace::load_profile). A shader without counts has no entry.
// Errors: those of shader_profile.hpp, and of sums beyond 64 bits.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "capture/profile/shader_profile.hpp"
#include "capture/trace/reader.hpp"

namespace rayreplay::report {

/// The executions of one shader.
struct Executions {
  profile::ShaderProfile profile;
  std::uint32_t warp_size = 0;           ///< 0: not known
  std::vector<std::uint32_t> pipelines;  ///< whose counts these are, ascending
  std::vector<std::string> notes;        ///< what is left out

  /// "pipeline 3", "pipelines 0, 1 and 4 more".
  [[nodiscard]] std::string pipelines_text() const;
};

/// Executions by shader id. `only`: of this pipeline alone.
[[nodiscard]] std::map<std::uint16_t, Executions> executions_by_shader(const trace::Profile& profile,
                                                                       std::optional<std::uint32_t> only,
                                                                       const std::string& file);

}  // namespace rayreplay::report
