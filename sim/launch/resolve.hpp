// Completes the settings of a launch with the trace and the registered models.
//
// Contract: `resolve` checks the settings against a trace and gives every spec with all its parameters. `Configuration`
// is derived from an experiment's settings (sim/engine/stage_settings.hpp); its defaults are those of the keys. Costs
// name shaders by a stage ("closest-hit"), a name ("metal") or an id ("4"). An id has precedence over a name, a name
// over a stage, and among equals the later entry. Errors: Usage (unknown model, parameter, policy, shader; launch or
// warp size out of range); Missing if the order is "captured" and the trace has no warps.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "capture/trace/trace.hpp"
#include "sim/simt/replayer.hpp"

namespace rayreplay::experiment {

/// Shader and cycles of a call.
using ShaderCosts = std::vector<std::pair<std::string, std::uint32_t>>;

struct Configuration {
  std::uint32_t launch = 0;
  std::uint32_t warp_size = 0;  ///< 0: the trace's, or 32 if it has none
  std::string order = "auto";   ///< auto: captured if the trace has its warps, else z-order
  std::string policy = "stage-majority";
  std::vector<std::string> packings;  ///< empty: every registered packing
  std::vector<std::string> swizzles;  ///< files, beside the packings
  std::uint32_t default_cost = 1;
  ShaderCosts costs;
};

struct Resolved {
  std::uint32_t launch = 0;
  std::uint32_t warp_size = 0;
  std::string order;  ///< with every parameter
  simt::Policy policy = simt::Policy::StageMajority;
  std::vector<std::string> packings;  ///< with every parameter; identity first, no duplicates
  std::vector<std::string> swizzles;
  std::vector<std::uint32_t> costs;  ///< cycles by shader id; empty: no costs were given
};

/// Usage, with `where`, if the trace has no launch of this number.
[[nodiscard]] const trace::Launch& launch_of(const trace::Trace& trace, std::uint64_t launch, const std::string& where);

[[nodiscard]] Resolved resolve(const Configuration& configuration, const trace::Trace& trace);

}  // namespace rayreplay::experiment
