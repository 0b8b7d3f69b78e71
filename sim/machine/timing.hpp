// The time model: warps of segments on SMs, from costs to cycles.
//
// Contract: a *job* is one warp of segments. Alone on the machine it takes `solo` cycles: latencies of its warp events,
// traversal (Σ over the rays of its lanes, k-th with k-th, of the longest), and what the scheduler model charges; at
// least as long as its needs take at full speed. It needs issue slots, ray-tracing visits and memory traffic. An SM
// runs up to `resident_warps` jobs side by side; they share its resources as a fluid: all jobs of an SM advance at one
// rate, 1 or less, such that no resource (issue slots, visits, the SM's share of the memory bandwidth) is asked for
// more than it has, demand of a job taken as constant over it. Deterministic. O(jobs · (log(resident warps) +
// log(SMs))); memory linear in jobs. Source: fluid processor sharing (Kleinrock 1967); docs/assumptions.md says what it
// leaves out. Every SM-cycle from 0 to `cycles` is of one of the kinds in `Split`: they sum to sms · cycles.
//
// Who starts where, static schedules. Whenever jobs have ended (all that end at one time first), and at time 0:
//   1. Each SM with room starts waiting warps of the units that are bound to it, lowest unit first, a unit's warps in
//      order. Units with a `unit_sm` are bound to it from the start.
//   2. While there is an SM with room: the lowest unit not bound, with warps of its current round left to start, goes
//      to the SM that runs fewest jobs (ties to the lowest). If the schedule is `spread`, one warp of it starts there;
//      else the unit is bound to this SM, and starts as many of its warps as there is room for.
// A round's warps wait from when the last warp of the round before has ended. A unit holds no slots but those in which
// its warps run; a warp takes its SM's lowest free slot. `unit_sm` counts the SMs that shade, modulo their number; the
// withheld ones are the lowest of the machine.
//
// Charges. Warps of a unit's first round are as launched: free. Every later one takes `cycles_per_cut`, and
// `cycles_per_warp` too if its unit exchanges threads (its first round has several warps); its traffic is
// `bytes_per_moved` · moved + `bytes_per_thread` · lanes, and its latency grows by traffic / bandwidth.
//
// Timed models (run_timed). Threads start in the launch's warps, by start rank; a thread whose segment has ended waits
// in the exchange of its SM (or the only one) if it has another. Whenever jobs have ended or a deadline has come:
// arrivals by SM, job, lane; then exchanges are asked by SM; released warps start in order of release, before launched
// ones, on their SM, or with a single exchange on the SM that runs fewest jobs. A launched warp starts on the SM with
// fewest jobs of those where running jobs + warps released but not started + ⌈waiting threads / warp size⌉ leave a slot
// free (with a single exchange, slots and waiting threads of all SMs count together). Every formed warp is charged as
// one of a unit that exchanges.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "base/progress.hpp"
#include "scheduler-models/regrouping/scheduler_model.hpp"
#include "sim/machine/costs.hpp"
#include "sim/machine/machine.hpp"
#include "sim/simt/segment_replay.hpp"

namespace rayreplay::machine {

/// What one job needs.
struct Job {
  double shading = 0;    ///< latency cycles of shader calls
  double traversal = 0;  ///< latency cycles
  double reorder = 0;    ///< latency cycles
  double issue = 0;      ///< issue slots
  double visits = 0;     ///< of the ray-tracing unit
  double bytes = 0;      ///< of memory traffic

  [[nodiscard]] double solo() const {
    return shading + traversal + reorder;
  }
};

/// SM-cycles. The time of an SM is divided equally among the jobs that run on it at a moment, a job's share among its
/// parts in proportion.
struct Split {
  double traversal = 0, shading = 0, reorder = 0;
  double idle = 0;      ///< no job
  double withheld = 0;  ///< SMs that the model keeps from shading
};

/// Where and when each job ran.
struct Placement {
  std::vector<std::uint32_t> sm;
  std::vector<std::uint32_t> slot;  ///< of its SM
  std::vector<double> start, end;   ///< cycles
};

struct Timing {
  double cycles = 0;
  double milliseconds = 0;
  Split split;
  double tail_cycles = 0;           ///< from when the first shading SM has nothing more to run until the end
  double traffic_bytes = 0;         ///< of exchanges
  double busy_share = 0;            ///< mean over time and shading SMs of jobs / resident warps
  std::array<double, 3> limited{};  ///< share of busy SM-cycles in which issue, visits, bytes held the jobs back
  Placement placement;              ///< by job, in the order of the schedule's warps; empty unless asked for
};

struct TimingOptions {
  bool placement = false;
  Progress* progress = nullptr;
};

/// Extra cost of every closest-hit call (warp event), for break-even: added to issue and, times `latency_per_issue`, to
/// latency.
struct Extra {
  double hit_issue = 0;
  double latency_per_issue = 6;
};

/// What a schedule's warps need, once; then timed again and again under other charges and extra costs. Memory: 56 bytes
/// a warp.
class Workload {
 public:
  Workload() = default;
  std::vector<Job> jobs;             ///< without charges
  std::vector<std::uint32_t> hits;   ///< closest-hit warp events of the job
  std::vector<std::uint32_t> lanes;  ///< segments of the job
};

[[nodiscard]] Workload make_workload(const trace::Launch& launch, const std::vector<trace::Shader>& shaders,
                                     const scheduler::Segments& segments, const scheduler::SegmentSchedule& schedule,
                                     const Machine& machine, const Costs& costs, simt::Policy policy);

/// Static schedules.
[[nodiscard]] Timing time_schedule(const scheduler::SegmentSchedule& schedule, const Workload& workload,
                                   const Machine& machine, std::uint32_t resident_warps,
                                   const scheduler::Charges& charges, const Extra& extra, const TimingOptions& options);

/// Timed models: forms the warps as it goes. The schedule lists them by start (one unit, one round: not to be timed
/// again).
struct TimedRun {
  scheduler::SegmentSchedule schedule;
  Timing timing;
};
[[nodiscard]] TimedRun run_timed(const scheduler::PlanContext& context, const scheduler::SchedulerModel& model,
                                 const Machine& machine, std::uint32_t resident_warps, const Costs& costs,
                                 simt::Policy policy, const scheduler::Charges& charges, const Extra& extra,
                                 const TimingOptions& options);

/// No schedule can be faster: the busiest resource of the whole machine, for `events` ideal warp events (oracle).
[[nodiscard]] Timing time_bound(const Job& sum, const Machine& machine, const scheduler::Charges& charges);

}  // namespace rayreplay::machine
