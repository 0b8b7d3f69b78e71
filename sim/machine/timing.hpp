// The time model: warps of segments on SMs, from costs to cycles.
//
// Contract: a *job* is one warp of segments. Alone on the machine it takes `solo` cycles: latencies of its warp events,
// traversal (Σ over k of the longest k-th ray of its lanes), and the scheduler model's charges; at least as long as its
// needs take at full speed. It needs issue slots, ray-tracing visits and memory traffic. An SM runs up to
// `resident_warps` jobs side by side, which share its resources as a fluid: all jobs of an SM advance at one rate, at
// most 1, such that no resource (issue slots, visits, the SM's share of the memory bandwidth) exceeds its capacity; a
// job's demand is constant over its time. Deterministic. O(jobs · (log(resident warps) + log(SMs))); memory linear in
// jobs. Source: fluid processor sharing (Kleinrock 1967); docs/assumptions.md has its limits. Every SM-cycle from 0 to
// `cycles` belongs to one kind of `Split`: they sum to sms · cycles.
//
// Placement, static schedules. At time 0 and whenever jobs have ended (all with equal ends first):
//   1. Each SM with room starts waiting warps of the units bound to it, lowest unit first, a unit's warps in order.
//      Units with a `unit_sm` are bound from the start.
//   2. While an SM has room: the lowest unbound unit with warps of its current round left goes to the SM with the
//      fewest jobs (ties to the lowest). If the schedule is `spread`, one warp of it starts there; else the unit is
//      bound to this SM and starts as many of its warps as there is room for.
//
// A round's warps wait until the last warp of the previous round has ended. A unit holds only the slots of its running
// warps; a warp takes its SM's lowest free slot. `unit_sm` is an index of shading SMs, modulo their number; the
// withheld SMs are the lowest of the machine.
//
// Charges. Warps of a unit's first round are as launched, without charge. Every later one takes `cycles_per_cut`, and
// also `cycles_per_warp` if its unit exchanges threads (its first round has several warps). Its traffic is
// `bytes_per_moved` · moved + `bytes_per_thread` · lanes; its latency grows by traffic / bandwidth.
//
// Timed models (run_timed; forming_warps.hpp keeps account of them, here and in memory time). Threads start in the
// launch's warps, by start rank. A thread whose segment has ended, and that has another, waits in the exchange of its
// SM (or the only one). Whenever jobs have ended or a deadline has come, arrivals are processed by SM, job, lane; then
// exchanges are asked by SM. Released warps start in order of release, before launched ones, on their SM, or with a
// single exchange on the SM with the fewest jobs. A launched warp starts on the SM with the fewest jobs among those
// where running jobs + warps released but not started + ⌈waiting threads / warp size⌉ leave a slot free (with a single
// exchange, over the slots and waiting threads of all SMs). Every formed warp is charged like one of a unit that
// exchanges.
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

/// Needs of one job.
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

/// SM-cycles. The time of an SM is divided equally among the jobs running at a moment; a job's share is divided among
/// its parts in proportion.
struct Split {
  double traversal = 0, shading = 0, reorder = 0;
  double idle = 0;      ///< no job
  double withheld = 0;  ///< SMs that the model withholds from shading
};

/// Place and time of each job.
struct Placement {
  std::vector<std::uint32_t> sm;
  std::vector<std::uint32_t> slot;  ///< of its SM
  std::vector<double> start, end;   ///< cycles
};

struct Timing {
  double cycles = 0;
  double milliseconds = 0;
  Split split;
  double tail_cycles = 0;           ///< from the first idle end of a shading SM until the end
  double traffic_bytes = 0;         ///< of exchanges
  double busy_share = 0;            ///< mean of jobs / resident warps over time and shading SMs
  std::array<double, 3> limited{};  ///< share of busy SM-cycles limited by issue, visits, bytes
  Placement placement;              ///< by job, in the order of the schedule's warps; empty unless wanted
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

/// Needs of a schedule's warps, computed once and timed repeatedly with different charges and extra costs. Memory: 56
/// bytes a warp.
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

/// Timed models: warps form during the run. The schedule lists them by start (one unit, one round; it cannot be timed
/// again).
struct TimedRun {
  scheduler::SegmentSchedule schedule;
  std::vector<std::uint64_t> moved_lanes;  ///< by warp: lanes of the threads that moved; empty without placement
  Timing timing;
};
[[nodiscard]] TimedRun run_timed(const scheduler::PlanContext& context, const scheduler::SchedulerModel& model,
                                 const Machine& machine, std::uint32_t resident_warps, const Costs& costs,
                                 simt::Policy policy, const scheduler::Charges& charges, const Extra& extra,
                                 const TimingOptions& options);

/// A lower bound for all schedules: the busiest resource of the whole machine, for `events` ideal warp events (oracle).
[[nodiscard]] Timing time_bound(const Job& sum, const Machine& machine, const scheduler::Charges& charges);

}  // namespace rayreplay::machine
