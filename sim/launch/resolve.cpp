#include "sim/launch/resolve.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/parameters.hpp"
#include "scheduler-models/launch_order.hpp"
#include "scheduler-models/packing.hpp"
#include "sim/machine/shader_names.hpp"

namespace rayreplay::experiment {
namespace {

constexpr std::uint32_t kDefaultWarpSize = 32;
constexpr const char* kBaseline = "identity";

std::vector<std::uint32_t> resolve_costs(const Configuration& configuration, const trace::Trace& trace) {
  if (configuration.costs.empty() && configuration.default_cost == 1) {
    return {};
  }
  std::vector<std::uint32_t> costs(trace.shaders.size(), configuration.default_cost);
  std::vector<int> ranks(trace.shaders.size(), 0);
  for (const auto& [key, cycles] : configuration.costs) {
    bool used = false;
    for (std::size_t id = 0; id < costs.size(); ++id) {
      const int rank = machine::match_rank(key, trace.shaders[id], id);
      used = used || rank > 0;
      if (rank > 0 && rank >= ranks[id]) {
        costs[id] = cycles;
        ranks[id] = rank;
      }
    }
    if (!used) {
      machine::unknown_shader(key, trace, "");
    }
  }
  return costs;
}

std::uint32_t resolve_warp_size(const Configuration& configuration, const trace::Trace& trace) {
  std::uint32_t size = configuration.warp_size;
  if (size == 0) {
    size = trace.header.warp_size == 0 ? kDefaultWarpSize : trace.header.warp_size;
  }
  scheduler::check_warp_size(size);
  return size;
}

std::vector<std::string> resolve_packings(const Configuration& configuration) {
  std::vector<std::string> specs = {kBaseline};
  const std::vector<std::string> wanted =
      configuration.packings.empty() ? scheduler::Packings::names() : configuration.packings;
  specs.insert(specs.end(), wanted.begin(), wanted.end());
  std::vector<std::string> resolved;
  for (const std::string& spec : specs) {
    const std::string full = scheduler::Packings::create(spec).spec;
    if (std::find(resolved.begin(), resolved.end(), full) == resolved.end()) {
      resolved.push_back(full);
    }
  }
  return resolved;
}

}  // namespace

const trace::Launch& launch_of(const trace::Trace& trace, std::uint64_t launch, const std::string& where) {
  const std::size_t launches = trace.launches.size();
  if (launch >= launches) {
    usage("the trace has no launch of this number", where, fmt::format("{}", launch),
          launches == 0 ? "nothing: the trace has no launches" : fmt::format("0 to {}", launches - 1),
          "rayreplay info lists the launches of a trace");
  }
  return trace.launches[launch];
}

Resolved resolve(const Configuration& configuration, const trace::Trace& trace) {
  const trace::Launch& launch = launch_of(trace, configuration.launch, "launch");
  Resolved resolved;
  resolved.launch = configuration.launch;
  resolved.warp_size = resolve_warp_size(configuration, trace);
  const std::string order =
      configuration.order == "auto" ? (launch.thread_warp.empty() ? "z-order" : "captured") : configuration.order;
  resolved.order = scheduler::LaunchOrders::create(order).spec;
  // Captured warps have a fixed size: warps of any other size would have lanes without threads.
  if (parse_spec(order).name == "captured" && !launch.thread_warp.empty() &&
      resolved.warp_size != trace.header.warp_size) {
    throw Error(ErrorKind::Usage, {"the warp size is not that of the captured warps", "",
                                   fmt::format("{}", resolved.warp_size), fmt::format("{}", trace.header.warp_size),
                                   "leave --warp-size out, or pick a modelled order, such as --order z-order"});
  }
  resolved.policy = simt::parse_policy(configuration.policy);
  resolved.packings = resolve_packings(configuration);
  resolved.swizzles = configuration.swizzles;
  resolved.costs = resolve_costs(configuration, trace);
  return resolved;
}

}  // namespace rayreplay::experiment
