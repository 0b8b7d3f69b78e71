// What would other scheduler models do to this launch? A trace, a machine and a configuration to a table, one row per
// model.
//
// Contract: a pure function. Row 0 is `plain`, the baseline of every speed-up. SIMT efficiency is exact integers; times
// are estimates of sim/machine, the same on every machine and for any number of threads. Models run one after another,
// parallel inside; memory beside the trace: two models' schedules and jobs (plain's and one other's), unless
// `placement` keeps them all. Source: MODELS.md §7. Errors: those of the models, hints, machine, costs. Break-even is
// solved by timing both anew (break_even.hpp). Timed models form other warps when calls cost more, so that they are run
// anew, on a coarser grid, and their speed-up jumps by several percent from cost to cost: of them it is known from
// where to where it lies (kTimedSamples in compare.cpp; at most 23 runs).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/accelerator.hpp"
#include "scheduler-models/regrouping/hints.hpp"
#include "scheduler-models/regrouping/segment_schedule.hpp"
#include "sim/experiment/break_even.hpp"
#include "sim/experiment/resolve.hpp"
#include "sim/machine/timing.hpp"

namespace rayreplay::experiment {

struct CompareRow;

struct CompareOptions {
  std::vector<std::string> models;                 ///< specs; plain is added in front, models asked for twice come once
  std::string machine = "rtx4090";                 ///< name or path
  std::optional<machine::Machine> made_machine{};  ///< in place of what `machine` names
  scheduler::HintSources hints;
  machine::CostOptions costs;
  std::string start_packing = "identity";            ///< resolved: how threads are packed when they start
  const scheduler::WarpAssignment* start = nullptr;  ///< how they are, where it is known; null: by order and packing
  bool replay_steps = false;  ///< rebuild a structure and count every ray's steps in it, instead of `steps_per_ray`
  std::uint32_t registers_per_thread = 64;
  bool break_even = true;
  bool response = false;   ///< also the speed-up over shader cost and live state
  bool placement = false;  ///< also where and when each warp ran; rows keep it and their schedules
  /// Called with each row while it has its schedule, segments and placement, whether or not it keeps them.
  std::function<void(const CompareRow&)> observe;
  Progress* progress = nullptr;
  Accelerator* accelerator = nullptr;  ///< where regrouping and replays run; null: on the processor
};

struct ResponsePoint {
  double hit_instructions = 0;  ///< added to every closest-hit call
  double live_bytes = 0;        ///< of state per thread whose state moves; NaN: the model's own
  double speed_up = 0;
};

struct CompareRow {
  std::string model;  ///< resolved spec
  scheduler::Grouping grouping = scheduler::Grouping::Static;
  simt::SegmentReplayResult replay;  ///< of a bound: sums alone
  double efficiency = 0;
  double change = 0;  ///< against plain
  std::uint64_t segments = 0, warps = 0;
  std::uint64_t rounds = 0;  ///< most of a unit; 0 where there are none (timed models, bounds)
  std::uint64_t moved = 0;   ///< threads whose state moved, summed over exchanges
  std::uint64_t state_bytes = 0;
  scheduler::SmSource sm_source = scheduler::SmSource::None;  ///< the schedule's
  scheduler::Charges charges;                                 ///< as resolved
  machine::Timing timing;                                     ///< without placement unless asked for
  double speed_up = 1;                                        ///< plain's time / this one's
  BreakEven break_even;
  double break_even_busy_share = 0;        ///< of the row's warps at `break_even.decided_at` (machine::Timing)
  double break_even_plain_busy_share = 0;  ///< of plain's
  std::vector<ResponsePoint> response;     ///< first over shader cost, then over live state
  scheduler::SegmentSchedule schedule;     ///< empty unless placement is asked for, or observed
  scheduler::Segments cut;                 ///< empty unless placement is asked for
};

struct CompareResult {
  Resolved configuration;
  machine::Machine machine;
  machine::Costs costs;
  double mean_hit_cost = 0;  ///< instructions of a closest-hit call, over the launch's calls
  std::uint32_t resident_warps = 0;
  std::string trace_hash, tool_version;
  trace::LaunchSize size;
  std::uint64_t rays = 0, events = 0;
  std::vector<CompareRow> rows;
};

/// Less than half of the warps that an SM can run at once, on average: it waits for latencies that a larger launch of
/// the same work would hide.
inline constexpr double kFewBusy = 0.5;

/// Whether the row's speed-up or break-even is one of a launch of this size alone: the row or plain has a busy share
/// below kFewBusy, as it is or at the cost that decides break-even. False for bounds, which wait for nothing,
/// and of launches without events.
[[nodiscard]] bool too_few_warps(const CompareResult& result, const CompareRow& row);

/// `name` stands for the trace in messages.
[[nodiscard]] CompareResult compare(const trace::Trace& trace, const std::string& name, const Resolved& configuration,
                                    const CompareOptions& options);

}  // namespace rayreplay::experiment
