// Launch-order models: how a GPU cuts a launch into warps and in which order it starts them (MODELS.md §5).
//
// Contract: `assign` gives the assignment for a launch; it reads the launch's size and, for "captured" alone, its
// captured warps. Deterministic. O(threads). Errors: Missing when the trace lacks what the model needs; Usage when the
// launch has more than 2^32 − 1 threads or the parameters do not fit. To add a model: one .cpp file in
// scheduler-models/launch_orders/ with contract, parameters, function, registration.
#pragma once

#include "base/registry.hpp"
#include "capture/trace/trace.hpp"
#include "scheduler-models/warp_assignment.hpp"

namespace rayreplay::scheduler {

class LaunchOrder {
 public:
  static constexpr const char* kModelKind = "launch order";
  virtual ~LaunchOrder() = default;
  [[nodiscard]] virtual WarpAssignment assign(const trace::Launch& launch, std::uint32_t warp_size) const = 0;
};

using LaunchOrders = Registry<LaunchOrder>;

}  // namespace rayreplay::scheduler
