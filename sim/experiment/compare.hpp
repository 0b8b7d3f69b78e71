// What would other scheduler models do to this launch? A trace, a machine and a configuration to a table, one row per
// model.
//
// Contract: a pure function. Row 0 is `plain`, the baseline of every speed-up. SIMT efficiency is exact integers; times
// are estimates of sim/machine, the same on every machine and for any number of threads. Models run one after another,
// parallel inside; memory beside the trace: one model's schedule and jobs. Source: MODELS.md §7. Errors: those of the
// models, hints, machine, costs. Break-even is solved: the extra cost x of a closest-hit call at which a model's time
// equals plain's, to 0.1 % of x, bracketed on a geometric grid of x from 1 to 10^6 instructions and then bisected, by
// timing both anew.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "scheduler-models/regrouping/hints.hpp"
#include "scheduler-models/regrouping/segment_schedule.hpp"
#include "sim/experiment/configuration.hpp"
#include "sim/machine/timing.hpp"

namespace rayreplay::experiment {

struct CompareOptions {
  std::vector<std::string> models;  ///< specs; plain is added in front
  std::string machine = "rtx4090";  ///< name or path
  scheduler::HintSources hints;
  machine::CostOptions costs;
  std::uint32_t registers_per_thread = 64;
  bool break_even = true;
  bool response = false;   ///< also the speed-up over shader cost and live state
  bool placement = false;  ///< also where and when each warp ran
  Progress* progress = nullptr;
};

enum class BreakEvenKind : std::uint8_t {
  NotAsked,
  Always,   ///< faster than plain at every cost
  Never,    ///< at none up to 10^6 instructions
  Above,    ///< faster from `instructions` on
  Below,    ///< faster up to `instructions`
  Several,  ///< changes more than once: `instructions` is the first
};

struct BreakEven {
  BreakEvenKind kind = BreakEvenKind::NotAsked;
  double instructions = 0;  ///< added to every closest-hit call
  double hit_cost = 0;      ///< the mean instructions of a closest-hit call then
};

struct ResponsePoint {
  double hit_instructions = 0;  ///< added
  double live_bytes = 0;        ///< of state per moved thread; instead of the model's own
  double speed_up = 0;
};

struct CompareRow {
  std::string model;  ///< resolved spec
  scheduler::Grouping grouping = scheduler::Grouping::Static;
  simt::SegmentReplayResult replay;  ///< of a bound: sums alone
  double efficiency = 0;
  double change = 0;  ///< against plain
  std::uint64_t segments = 0, warps = 0, rounds = 0;
  std::uint64_t moved = 0;  ///< threads whose state moved, summed over exchanges
  std::uint64_t state_bytes = 0;
  scheduler::Charges charges;  ///< as resolved
  machine::Timing timing;      ///< without placement unless asked for
  double speed_up = 1;         ///< plain's time / this one's
  BreakEven break_even;
  std::vector<ResponsePoint> response;
  scheduler::SegmentSchedule schedule;  ///< empty unless placement is asked for
  scheduler::Segments cut;              ///< empty unless placement is asked for
};

struct CompareResult {
  Resolved configuration;
  machine::Machine machine;
  machine::Costs costs;
  std::uint32_t resident_warps = 0;
  std::string trace_hash, tool_version, device = "CPU";
  trace::LaunchSize size;
  std::uint64_t rays = 0, events = 0;
  std::vector<CompareRow> rows;
};

/// `name` stands for the trace in messages.
[[nodiscard]] CompareResult compare(const trace::Trace& trace, const std::string& name, const Resolved& configuration,
                                    const CompareOptions& options);

}  // namespace rayreplay::experiment
