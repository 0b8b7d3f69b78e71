// Work distributions: the SM and the order of each warp's work (MODELS.md §12; Aila and Laine, HPG 2009).
//
// Contract: a launch is divided into items: the threads that one warp runs from start to end. Items wait in queues: one
// for the whole machine, or one for each SM. A free warp slot takes the next item of its SM's queue. This covers warps
// that the hardware launches into free slots as well as persistent warps that fetch more work. Every thread is in
// exactly one item, every item in exactly one queue. Deterministic. O(threads). Errors: Missing if the trace lacks data
// that the model needs. To add one: a .cpp file in sim/machine/distributions/.
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
  std::vector<std::uint64_t> queue_begin;  ///< queues + 1; one queue, or as many as SMs
  std::vector<std::uint32_t> queue;        ///< items, queue by queue in order
  std::string note;                        ///< assumptions of the model about this launch; "": none

  [[nodiscard]] std::uint32_t items() const {
    return warp_size == 0 ? 0 : static_cast<std::uint32_t>(thread_at.size() / warp_size);
  }
  [[nodiscard]] std::size_t queues() const {
    return queue_begin.empty() ? 0 : queue_begin.size() - 1;
  }
};

/// Internal unless the plan obeys the contract for `threads` threads and `sms` SMs.
void check(const WorkPlan& plan, std::uint64_t threads, std::uint32_t sms);

class WorkDistribution {
 public:
  static constexpr const char* kModelKind = "work distribution";
  virtual ~WorkDistribution() = default;
  /// `assignment`: the packing of threads into warps, and the start order of these (from the experiment). Models that
  /// divide the image themselves use its warp size alone.
  [[nodiscard]] virtual WorkPlan plan(const trace::Launch& launch, const scheduler::WarpAssignment& assignment,
                                      std::uint32_t sms) const = 0;
};

using WorkDistributions = Registry<WorkDistribution>;

}  // namespace rayreplay::machine
