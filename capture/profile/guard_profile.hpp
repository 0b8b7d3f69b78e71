// Guards of rewritten shaders in a trace: how often each held, and how often it failed.
//
// `rayreplay optimise` puts guards into modules. When these modules run with counts of blocks, the blocks behind a
// guard count it (spirv/guard_names.hpp).
//
// Contract: `guard_profile` takes the profile and the counts of its shaders (shader_profiles). A row for each guard of
// each counted shader in each pipeline, by pipeline, shader and block. A side that was not counted has none. Linear in
// modules and counts.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "capture/profile/shader_profile.hpp"

namespace rayreplay::profile {

struct GuardProfile {
  std::uint32_t pipeline = 0;
  std::uint16_t shader = 0;
  std::string function_name;
  std::uint32_t label = 0;                    ///< id of the block that runs where the guard fails
  std::string text;                           ///< what is guarded
  std::optional<std::uint64_t> held, failed;  ///< executions, by lanes
};

[[nodiscard]] std::vector<GuardProfile> guard_profile(std::span<const trace::Shader> shaders,
                                                      std::span<const ShaderProfile> counted);

}  // namespace rayreplay::profile
