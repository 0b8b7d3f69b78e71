// The function of a trace's shader in its SPIR-V module.
//
// Contract: the entry point of the shader's name and stage; empty if the module has none, or not its function. O(entry
// points + functions).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "capture/spirv/module.hpp"
#include "capture/trace/trace.hpp"

namespace rayreplay::profile {

/// Index in Module::entry_points.
[[nodiscard]] std::optional<std::uint32_t> entry_point(const spirv::Module& module, trace::ShaderStage stage,
                                                       const std::string& name);
/// Index in Module::functions.
[[nodiscard]] std::optional<std::uint32_t> entry_function(const spirv::Module& module, trace::ShaderStage stage,
                                                          const std::string& name);

}  // namespace rayreplay::profile
