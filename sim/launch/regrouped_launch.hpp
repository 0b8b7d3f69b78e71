// A launch regrouped by a scheduler model: its warps of segments, where they run, and whose state goes through memory.
//
// Contract: `regroup_launch` cuts the launch as the model says, from the packing `start`. Static models give a schedule
// with units and rounds. Timed models either are run by the time model (machine::run_timed), and their warps have SMs
// and an order; or, in a closed loop, their warps form while the accesses are interleaved: `forming` has what exchanges
// are made of, and there is no schedule. `state_moves`: by segment, 1 if its thread's state comes through memory
// (state_moves.hpp); `state_bytes`: what a thread stores, and then loads: half of what the model charges, in whole
// words. So the bytes of all states equal the time model's traffic, but for the rounding. In a closed loop only the
// exchanges tell who moves: where that decides (StateTraffic::Moved), `state_moves` is empty. `queues`: the places of
// threads in the model's queues in memory; in a closed loop they are given while warps start. Deterministic. Errors:
// Usage for a bound, which has no warps; those of the model, its hints and, for timed models, the time model.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "capture/trace/accelerated_launch.hpp"
#include "capture/trace/trace.hpp"
#include "scheduler-models/regrouping/scheduler_model.hpp"
#include "scheduler-models/regrouping/state_moves.hpp"
#include "sim/machine/costs.hpp"
#include "sim/machine/machine.hpp"
#include "sim/simt/replayer.hpp"

namespace rayreplay::experiment {

/// The inputs of the exchanges of a timed model, for warps that form while they run.
struct Forming {
  scheduler::WarpAssignment start;
  scheduler::MachineFacts facts;
  scheduler::HintSources hints;
  scheduler::ModelQueues queues;
};

struct RegroupedLaunch {
  std::string model;  ///< resolved spec
  scheduler::Charges charges;
  scheduler::Segments segments;
  scheduler::SegmentSchedule schedule;
  std::vector<std::uint32_t> sm;  ///< by warp, of timed models; empty: the schedule's units decide
  scheduler::StateMoves state_moves;
  std::uint32_t state_bytes = 0;
  std::uint32_t payload_bytes = 0;         ///< of a schedule file: of state_bytes, those of the payload
  std::vector<std::uint32_t> start_delay;  ///< by warp, in cycles, of a schedule file; empty: the charges decide
  std::shared_ptr<const scheduler::QueuePlaces> queues;  ///< in memory; null: none, or a closed loop
  std::optional<Forming> forming;                        ///< closed loop

  [[nodiscard]] std::uint64_t bytes() const;
};

struct RegroupOptions {
  machine::Machine machine;
  std::uint32_t resident_warps = 32;
  double live_state_bytes = scheduler::kAssumedLiveState;  ///< of the launch's shaders
  scheduler::HintSources hints;
  machine::CostOptions costs;                         ///< for timed models
  simt::Policy policy = simt::Policy::StageMajority;  ///< for timed models
  bool closed_loop = false;                           ///< timed models: warps form while accesses are interleaved
  trace::AcceleratedLaunch* on_device = nullptr;      ///< null: the processor
  Progress* progress = nullptr;
};

/// Bytes that a thread stores and then loads: half of the charged traffic, in whole words. Usage beyond
/// scheduler::kMaxStateBytes: no parameter is larger, but the live state of the launch's shaders may be.
[[nodiscard]] std::uint32_t state_bytes_of(const scheduler::Charges& charges);

/// Leaves the payload's part of the state out: the payload is in memory, where the thread finds it from any warp.
void leave_out_payload(RegroupedLaunch& launch);

/// Usage, at `where`, for a model without warps.
void require_warps(const std::string& model, const std::string& where);

/// Places of one SM's queue in memory, under timed models: the SM has no room for more threads.
[[nodiscard]] std::uint64_t queue_places(std::uint32_t resident_warps, std::uint32_t warp_size);

/// Empty places of queues that fill during the run.
[[nodiscard]] std::unique_ptr<scheduler::QueuePlaces> forming_places(const scheduler::Segments& segments,
                                                                     const Forming& forming);

/// True for a model whose warps depend on the times of other warps.
[[nodiscard]] bool is_timed(const std::string& model);

[[nodiscard]] RegroupedLaunch regroup_launch(const trace::Trace& trace, const trace::Launch& launch,
                                             const scheduler::WarpAssignment& start, const std::string& model,
                                             const RegroupOptions& options);

}  // namespace rayreplay::experiment
