// Instructions of calls, from executions of basic blocks.
#include <algorithm>

#include "capture/profile/shader_profile.hpp"
#include "sim/machine/cost_sources.hpp"

namespace rayreplay::machine {

std::vector<double> executed_instructions(const trace::Trace& trace, const trace::Launch& launch) {
  if (trace.block_counts.size() == 0) {
    return {};
  }
  const auto profiles = profile::of_launch(
      profile::shader_profiles({trace.shaders, trace.block_counts, trace.header.warp_size}, "the trace"), launch);
  struct Sum {
    double instructions = 0, calls = 0;
  };
  std::vector<Sum> sums(trace.shaders.size());
  for (const profile::ShaderProfile& one : profiles) {
    const bool by_trace_call = trace.shaders[one.shader].stage == trace::ShaderStage::RayGeneration;
    sums[one.shader].instructions += one.lane_issue_slots;
    sums[one.shader].calls += by_trace_call ? one.lane_trace_calls : static_cast<double>(one.entries);
  }
  std::vector<double> result;
  for (const Sum& sum : sums) {
    result.push_back(sum.calls > 0 ? std::min(sum.instructions / sum.calls, kMaxIssue) : -1.0);
  }
  return result;
}

}  // namespace rayreplay::machine
