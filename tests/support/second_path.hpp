// What the engine's stages do, put together by hand from the rooms below it: the slow twin that tests compare it with.
// Nothing is kept or shared, and each call starts from the trace.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "bvh/bvh.hpp"
#include "sim/caching/cache.hpp"
#include "sim/comparison/advise.hpp"
#include "sim/comparison/compare.hpp"
#include "sim/engine/stage_settings.hpp"
#include "sim/launch/launch_schedule.hpp"
#include "sim/launch/launch_work.hpp"
#include "sim/launch/regrouped_launch.hpp"
#include "sim/launch/resolve.hpp"
#include "sim/launch/warps.hpp"
#include "sim/machine/live_state.hpp"
#include "sim/rays/traverse.hpp"
#include "sim/simt/replayer.hpp"

namespace rayreplay::test {

inline scheduler::WarpAssignment packed_by_hand(const trace::Trace& trace, const experiment::Resolved& resolved,
                                                const std::string& packing = "identity") {
  const trace::Launch& launch = trace.launches[resolved.launch];
  return experiment::pack(launch, experiment::in_order(launch, resolved.order, resolved.warp_size), packing);
}

/// One replay for each packing of the configuration.
inline std::vector<simt::ReplayResult> what_if_by_hand(const trace::Trace& trace,
                                                       const experiment::Configuration& configuration) {
  const experiment::Resolved resolved = experiment::resolve(configuration, trace);
  std::vector<simt::ReplayResult> rows;
  for (const std::string& packing : resolved.packings) {
    simt::ReplayOptions options;
    options.policy = resolved.policy;
    options.shader_cost = resolved.costs;
    rows.push_back(simt::replay(trace.launches[resolved.launch], trace.shaders,
                                packed_by_hand(trace, resolved, packing), options));
  }
  return rows;
}

inline experiment::CompareResult compare_by_hand(const trace::Trace& trace, const experiment::Resolved& resolved,
                                                 const experiment::CompareOptions& options,
                                                 const std::string& packing = "identity") {
  return experiment::compare(trace, resolved, packed_by_hand(trace, resolved, packing), options);
}

inline experiment::AdviseResult advise_by_hand(const trace::Trace& trace, const experiment::Resolved& resolved,
                                               const experiment::AdviseOptions& options) {
  return experiment::advise(trace, resolved, packed_by_hand(trace, resolved), options);
}

inline experiment::TraverseResult traverse_by_hand(const trace::Trace& trace, const experiment::Resolved& resolved,
                                                   const experiment::TraverseOptions& options,
                                                   const bvh::BvhOptions& structure = {},
                                                   const std::string& packing = "identity") {
  const trace::Launch& launch = trace.launches[resolved.launch];
  return experiment::traverse(launch, bvh::build_bvh(trace.scene, launch.tlas, "test", structure),
                              packed_by_hand(trace, resolved, packing), options);
}

/// Of complete settings.
inline experiment::CacheResult caches_by_hand(const trace::Trace& trace, const experiment::Settings& settings) {
  const experiment::Resolved resolved = experiment::resolved_of(settings, trace, false);
  const trace::Launch& launch = trace.launches[resolved.launch];
  experiment::CacheOptions options = experiment::cache_of(settings);
  options.stream.warp_size = resolved.warp_size;
  const machine::LiveState state = machine::live_state(trace, launch);
  const std::int64_t payload = settings.integer("stream.payload_bytes");
  if (payload < 0) {
    options.stream.payload_bytes = (static_cast<std::uint32_t>(std::ceil(state.payload)) + 3) / 4 * 4;
  }
  options.interleaving = experiment::interleaving_of(settings, options.machine, resolved.warp_size);
  const scheduler::WarpAssignment order = experiment::in_order(launch, resolved.order, resolved.warp_size);
  const scheduler::WarpAssignment packed = packed_by_hand(trace, resolved, resolved.packings.back());
  const bvh::Bvh structure = bvh::build_bvh(trace.scene, launch.tlas, "test", experiment::structure_of(settings));
  const bool regroups = settings.text("scheduler.model") != "plain";
  experiment::RegroupedLaunch regrouped;
  if (regroups) {
    const experiment::CompareOptions of_model = experiment::compare_of(settings);
    experiment::RegroupOptions how;
    how.machine = of_model.machine;
    how.resident_warps = options.interleaving.resident_warps;
    const bool apart = payload != 0 && state.origin == machine::Origin::Counted;
    how.live_state_bytes = state.bytes - (apart ? state.payload : 0);
    how.hints = of_model.hints;
    how.costs = of_model.costs;
    how.policy = resolved.policy;
    how.closed_loop = settings.text("schedule.time") == "memory";
    regrouped = experiment::regroup_launch(trace, launch, packed, settings.text("scheduler.model"), how);
  }
  std::vector<std::uint32_t> delays;
  if (settings.text("schedule.time") == "memory") {
    options.stream.work = true;
    const machine::Costs costs = machine::make_costs(trace, launch, experiment::compare_of(settings).costs);
    options.stream.call_work = experiment::call_work(costs);
    options.stream.lane_costs = experiment::lane_costs(costs);
    options.interleaving.work = true;
    delays = regroups ? experiment::start_delays(regrouped) : delays;
    options.interleaving.start_delay = delays;
  }
  return experiment::run_cache(
      trace, launch, structure,
      experiment::schedule_launch(launch, {resolved.order, resolved.packings.back(), order, packed},
                                  regroups ? "launch" : settings.text("schedule.distribution"), options.machine.sms),
      options, regroups ? &regrouped : nullptr);
}

}  // namespace rayreplay::test
