// Work distributions: which warp's work goes to which SM in which order (MODELS.md §12; Aila and Laine, HPG 2009).
//
// Contract: a launch is cut into items, the threads that one warp runs from start to end. Items wait in queues: one for
// the whole machine, or one for each SM. When a warp slot of an SM becomes free it takes the next item of the SM's
// queue: warps that the hardware launches as slots become free, and persistent warps that fetch work when theirs is
// done, are the same here. Every thread is in exactly one item, every item in exactly one queue. Deterministic.
// O(threads). Errors: Missing when the trace lacks what the model needs. To add one: a .cpp file in
// sim/machine/distributions/.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/registry.hpp"
#include "capture/trace/trace.hpp"
#include "scheduler-models/warp_assignment.hpp"

namespace rayreplay::machine {

struct WorkPlan {
  std::uint32_t warp_size = 32;
  std::vector<std::uint32_t> thread_at;    ///< items · warp_size; scheduler::kNoThread: no thread
  std::vector<std::uint64_t> queue_begin;  ///< queues + 1; queues are 1 or as many as SMs
  std::vector<std::uint32_t> queue;        ///< items, queue by queue in the order in which they are taken
  std::string note;                        ///< what the model had to assume about this launch; "": nothing

  [[nodiscard]] std::uint32_t items() const {
    return warp_size == 0 ? 0 : static_cast<std::uint32_t>(thread_at.size() / warp_size);
  }
  [[nodiscard]] std::size_t queues() const {
    return queue_begin.empty() ? 0 : queue_begin.size() - 1;
  }
};

/// Throws Internal unless the plan keeps the contract for `threads` threads and `sms` SMs.
void check(const WorkPlan& plan, std::uint64_t threads, std::uint32_t sms);

class WorkDistribution {
 public:
  static constexpr const char* kModelKind = "work distribution";
  virtual ~WorkDistribution() = default;
  /// `assignment`: how the launch's threads are packed into warps, and in which order those start (order and packing of
  /// the experiment). Models that cut the image themselves use its warp size alone.
  [[nodiscard]] virtual WorkPlan plan(const trace::Launch& launch, const scheduler::WarpAssignment& assignment,
                                      std::uint32_t sms) const = 0;
};

using WorkDistributions = Registry<WorkDistribution>;

}  // namespace rayreplay::machine
