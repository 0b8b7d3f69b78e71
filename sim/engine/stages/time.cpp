// Stage "time": cycles of a launch in memory time, and their parts (sim/machine/time_shares.hpp).
#include <array>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "sim/engine/stage_registry.hpp"
#include "sim/engine/stage_settings.hpp"
#include "sim/engine/stages/stream.hpp"
#include "sim/machine/time_shares.hpp"
#include "sim/machine/time_split.hpp"

namespace rayreplay::experiment {
namespace {

/// By stage of the pipeline and by SM.
void add_split(MetricSet& metrics, const RecordedStream& stream) {
  constexpr std::array kStages = {"time_stage_ray_generation_share", "time_stage_traversal_share",
                                  "time_stage_intersection_share",   "time_stage_any_hit_share",
                                  "time_stage_closest_hit_share",    "time_stage_miss_share",
                                  "time_stage_callable_share",       "time_stage_exchange_share"};
  static_assert(kStages.size() == memory::kWorkStages);
  const machine::StageShares stages = machine::stage_shares(stream.time);
  for (std::size_t stage = 0; stage < kStages.size(); ++stage) {
    metrics.add(kStages[stage], std::accumulate(stages[stage].begin(), stages[stage].end(), 0.0));
  }
  const machine::PartSpread spread = machine::sm_spread(stream.time, stream.cycles)[machine::kWithWarpsPart];
  metrics.add("time_sm_least_share", spread.least);
  metrics.add("time_sm_median_share", spread.median);
  metrics.add("time_sm_most_share", spread.most);
  metrics.add_count("time_sm_with_most", spread.sm);
}

MetricSet metrics_of(const RecordedStream& stream, const machine::Machine& machine, std::uint32_t warp_size) {
  const machine::TimeShares shares =
      machine::time_shares(stream.time, stream.cycles, stream.mshr_stall_cycles, machine);
  constexpr std::array kParts = {
      "time_reorder_share", "time_issue_share", "time_traversal_share", "time_load_unit_share", "time_l1_share",
      "time_merged_share",  "time_l2_share",    "time_dram_share",      "time_barrier_share",   "time_idle_share"};
  static_assert(kParts.size() == machine::kTimeParts);
  constexpr std::array kBusy = {"time_issue_slots_busy", "time_ray_tracing_units_busy", "time_l2_bandwidth_busy",
                                "time_dram_bandwidth_busy", "time_mshrs_busy"};
  static_assert(kBusy.size() == machine::kResourcesOfTime);
  MetricSet metrics;
  metrics.add_count("time_cycles", stream.cycles);
  metrics.add("time_milliseconds", static_cast<double>(stream.cycles) / (machine.clock_mhz * 1e3));
  for (std::size_t part = 0; part < kParts.size(); ++part) {
    metrics.add(kParts[part], shares.parts[part]);
  }
  metrics.add("time_resident_warps", shares.resident_warps);
  const memory::WarpCalls& calls = stream.time.calls;
  const double most = static_cast<double>(calls.calls) * warp_size;
  metrics.add("time_efficiency", most == 0 ? 0 : static_cast<double>(calls.lanes) / most);
  metrics.add_count("time_l2_bytes", stream.time.l2_bytes);
  metrics.add_count("time_dram_bytes", stream.time.dram_bytes);
  metrics.add_count("time_dram_written_bytes", stream.time.dram_written_bytes);
  for (std::size_t resource = 0; resource < kBusy.size(); ++resource) {
    metrics.add(kBusy[resource], shares.busy[resource]);
  }
  metrics.add("time_bound_busy", shares.of_bound());
  add_split(metrics, stream);
  return metrics;
}

std::vector<Made> make_numbers(Workbench& bench, std::span<const Experiment* const> members) {
  const Experiment& experiment = *members.front();
  const Settings& settings = *experiment.settings;
  return {Made(metrics_of(*stream(bench, experiment), stream_machine(settings),
                          decisions(settings, *experiment.facts).warp_size))};
}

void check_time(const Experiment& experiment) {
  const Settings& settings = *experiment.settings;
  if (!has_memory_time(settings)) {
    throw Error(ErrorKind::Usage, {"the output time needs memory time", place_of(settings.where(kTimeKey), kTimeKey),
                                   "'" + settings.text(kTimeKey) + "'", "memory",
                                   std::string("add --set ") + kTimeKey + "=memory, or leave the output out"});
  }
}

constexpr StageCode kCode = {
    .estimate_bytes =
        [](const Experiment& experiment) { return likely_transactions(experiment) * sizeof(memory::Transaction); },
    .numbers = make_numbers,
    .alone = true,
    .of_accesses = true,
    .check = check_time,
};

const StageRegistrar kRegistrar(
    {.name = "time",
     .text = "The launch in memory time: cycles, their parts, and how busy each resource is",
     .position = 75,
     .takes = {"stream"},
     .metrics =
         {
             {"time_cycles", "", "cycles", "Time of the launch in memory time", Goal::Less},
             {"time_milliseconds", "", "ms", "The same, by the machine's clock", Goal::Less},
             {"time_reorder_share", "", "share", "SM-cycles in which warps wait for their exchange", Goal::Less},
             {"time_issue_share", "", "share", "SM-cycles in which warps run shader instructions", Goal::None},
             {"time_traversal_share", "", "share", "SM-cycles in which warps test boxes and primitives", Goal::None},
             {"time_load_unit_share", "", "share", "SM-cycles in which warps wait for the load unit", Goal::Less},
             {"time_l1_share", "", "share", "SM-cycles in which warps wait for L1 hits and stores", Goal::None},
             {"time_merged_share", "", "share", "SM-cycles in which warps wait for misses of other warps", Goal::Less},
             {"time_l2_share", "", "share", "SM-cycles in which warps wait for the L2", Goal::Less},
             {"time_dram_share", "", "share", "SM-cycles in which warps wait for DRAM", Goal::Less},
             {"time_barrier_share", "", "share", "SM-cycles without warps before the SM's last one ends", Goal::Less},
             {"time_idle_share", "", "share", "SM-cycles after the end of the SM's last warp", Goal::Less},
             {"time_resident_warps", "", "warps", "Resident warps of an SM, mean over all SM-cycles", Goal::None},
             {"time_efficiency", "", "share", "SIMT efficiency of the simulated warps: active lanes, mean over calls",
              Goal::More},
             {"time_l2_bytes", "", "bytes", "Bytes that the L2 served", Goal::Less},
             {"time_dram_bytes", "", "bytes", "Bytes that DRAM served, read and written", Goal::Less},
             {"time_dram_written_bytes", "", "bytes", "The part of them that was written", Goal::Less},
             {"time_issue_slots_busy", "", "share", "Issue slots taken", Goal::None},
             {"time_ray_tracing_units_busy", "", "share", "Time of ray-tracing units taken by tests", Goal::None},
             {"time_l2_bandwidth_busy", "", "share", "L2 bandwidth taken", Goal::None},
             {"time_dram_bandwidth_busy", "", "share", "DRAM bandwidth taken", Goal::None},
             {"time_mshrs_busy", "", "share", "SM-cycles in which a load unit waits for a free MSHR", Goal::Less},
             {"time_bound_busy", "", "share", "Busy share of the busiest of these five resources", Goal::None},
             {"time_stage_ray_generation_share", "", "share", "Warp-cycles in ray generation and trace calls",
              Goal::None},
             {"time_stage_traversal_share", "", "share", "Warp-cycles in traversal, waits for its data included",
              Goal::None},
             {"time_stage_intersection_share", "", "share", "Warp-cycles in intersection shaders", Goal::None},
             {"time_stage_any_hit_share", "", "share", "Warp-cycles in any-hit shaders", Goal::None},
             {"time_stage_closest_hit_share", "", "share", "Warp-cycles in closest-hit shaders", Goal::None},
             {"time_stage_miss_share", "", "share", "Warp-cycles in miss shaders", Goal::None},
             {"time_stage_callable_share", "", "share", "Warp-cycles in callables", Goal::None},
             {"time_stage_exchange_share", "", "share", "Warp-cycles in delays of exchanges and moves of live state",
              Goal::Less},
             {"time_sm_least_share", "", "share", "Cycles with warps, of the SM with the fewest", Goal::More},
             {"time_sm_median_share", "", "share", "Cycles with warps, median of the SMs", Goal::None},
             {"time_sm_most_share", "", "share", "Cycles with warps, of the SM with the most", Goal::None},
             {"time_sm_with_most", "", "number", "The SM with the most cycles with warps", Goal::None},
         },
     .rank = 6,
     .unit_shares = "stream",
     .unit_weight = 5,
     .large_units = true},
    &kCode);

}  // namespace
}  // namespace rayreplay::experiment
