// Comparison of scheduler models on a launch: a trace, a machine and a configuration give a table, one row per model.
//
// Contract: a pure function. Row 0 is `plain`, the baseline of every speed-up. SIMT efficiency is exact. Times are
// estimates of sim/machine, equal on every machine and for any number of threads. Models run one after another,
// parallel inside. Memory beside the trace: two models' schedules and jobs (plain's and one other's), unless
// `placement` keeps them all. Source: MODELS.md §7. Errors: those of the models, hints, machine, costs. Break-even
// re-times both models (break_even.hpp). Timed models form different warps at different call costs, so each cost needs
// a new run, and their speed-up jumps by several percent from cost to cost. They use a coarser grid, and their
// break-even is an interval (kTimedSamples in compare.cpp; at most 23 runs).
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "base/accelerator.hpp"
#include "capture/profile/path_efficiency.hpp"
#include "scheduler-models/regrouping/hints.hpp"
#include "scheduler-models/regrouping/segment_schedule.hpp"
#include "scheduler-models/warp_assignment.hpp"
#include "sim/comparison/break_even.hpp"
#include "sim/comparison/model_list.hpp"
#include "sim/comparison/quantities.hpp"
#include "sim/comparison/sensitivity.hpp"
#include "sim/launch/resolve.hpp"
#include "sim/machine/timing.hpp"

namespace rayreplay::experiment {

struct CompareRow;

struct CompareOptions {
  std::vector<std::string> models;  ///< specs; plain is added in front, duplicates are removed
  machine::Machine machine;
  scheduler::HintSources hints;
  machine::CostOptions costs;
  machine::LiveState live_state;  ///< of the launch's shaders
  std::uint32_t registers_per_thread = 64;
  machine::Origin registers_origin = machine::Origin::Assumed;
  std::set<std::string> given;       ///< keys that the user set, as in Quantities
  GivenParameters given_parameters;  ///< of the models
  bool break_even = true;
  bool sensitivity = false;  ///< also a verdict for each row, and what it hangs on
  bool response = false;     ///< also the speed-up over shader cost and live state
  bool placement = false;    ///< also place and time of each warp; rows keep it and their schedules
  /// Called with each row while its schedule, segments and placement exist, even if the row does not keep them.
  std::function<void(const CompareRow&)> observe;
  Progress* progress = nullptr;
  Accelerator* accelerator = nullptr;  ///< for regrouping and replays; null: the processor
};

struct ResponsePoint {
  double hit_instructions = 0;  ///< added to every closest-hit call
  double live_bytes = 0;        ///< of state per thread whose state moves; NaN: the model's own
  double speed_up = 0;
};

struct CompareRow {
  std::string model;  ///< resolved spec
  scheduler::Grouping grouping = scheduler::Grouping::Static;
  simt::SegmentReplayResult replay;  ///< for a bound: sums only
  double efficiency = 0;
  double change = 0;           ///< against plain
  profile::PathTallies paths;  ///< instructions of its warp events; empty without paths, and for bounds
  std::uint64_t segments = 0, warps = 0;
  std::uint64_t rounds = 0;  ///< maximum over units; 0 if there are none (timed models, bounds)
  std::uint64_t moved = 0;   ///< threads whose state moved, summed over exchanges
  std::uint64_t state_bytes = 0;
  std::uint32_t moved_payload_bytes = 0;  ///< of the live state that a thread moves, its payload's part; whole words
  scheduler::SmSource sm_source = scheduler::SmSource::None;  ///< the schedule's
  scheduler::Charges charges;                                 ///< as resolved
  machine::Timing timing;                                     ///< without placement unless wanted
  double speed_up = 1;                                        ///< plain's time / this one's
  BreakEven break_even;
  double break_even_busy_share = 0;        ///< of the row's warps at `break_even.decided_at` (machine::Timing)
  double break_even_plain_busy_share = 0;  ///< of plain's warps
  std::vector<Quantity> parameters;        ///< of the model, beside CompareResult::quantities
  Verdict verdict;                         ///< NotAsked of plain, and without sensitivity
  std::vector<ResponsePoint> response;     ///< first over shader cost, then over live state
  scheduler::SegmentSchedule schedule;     ///< empty unless placement is wanted, or observed
  scheduler::Segments cut;                 ///< empty unless placement is wanted
  std::vector<std::uint64_t> moved_lanes;  ///< by warp, of timed models (TimedRun); empty unless placement is wanted
  scheduler::ModelQueues queues;           ///< in memory; none unless placement is wanted, or observed
  std::uint32_t queue_places = 0;          ///< of an SM's queue, under timed models
};

struct CompareResult {
  Resolved configuration;
  machine::Machine machine;
  machine::Costs costs;              ///< without `paths`
  double mean_hit_cost = 0;          ///< instructions of a closest-hit call, over the launch's calls
  std::vector<Quantity> quantities;  ///< that times of all models depend on
  std::uint32_t resident_warps = 0;
  std::string trace_hash, tool_version;
  trace::LaunchSize size;
  std::uint64_t rays = 0, events = 0;
  std::vector<CompareRow> rows;
};

/// Limit of the mean share of resident warps. Below it an SM waits for latencies that a larger launch of the same work
/// would hide.
inline constexpr double kFewBusy = 0.5;

/// True if the row's speed-up or break-even depends on the launch's size: the row or plain has a busy share below
/// kFewBusy, at the current cost or at the one that decides break-even. False for bounds, which have no waits, and for
/// launches without events.
[[nodiscard]] bool too_few_warps(const CompareResult& result, const CompareRow& row);

/// Mean instructions of a closest-hit call over the launch's calls; 0 without one.
[[nodiscard]] double mean_hit_cost(const simt::ReplayResult& replay, const machine::Costs& costs);

/// `start`: the packing of threads at launch.
[[nodiscard]] CompareResult compare(const trace::Trace& trace, const Resolved& configuration,
                                    const scheduler::WarpAssignment& start, const CompareOptions& options);

}  // namespace rayreplay::experiment
