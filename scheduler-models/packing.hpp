// Packing models: thread swizzles that repack warps (MODELS.md §6).
//
// Contract: a swizzle is a bijection on thread ids: swizzle[t] is the thread whose work thread t does. `compute`
// unpacks the assignment's threads, sorts them stably by the model's key and gives the i-th place the i-th sorted
// thread. Deterministic: the same launch, assignment and parameters give the same swizzle. Memory O(threads), time
// O(threads · key length) or better; at 1280×720×6 samples under a second on one core. `compute_on` gives the same
// swizzle, computed on the launch's device where the model has kernels (pack_on_device.hpp); a null device, or a model
// without: the processor. To add a model: one .cpp file in scheduler-models/packings/ with contract, parameters,
// function, registration.
#pragma once

#include "base/registry.hpp"
#include "capture/trace/trace.hpp"
#include "scheduler-models/warp_assignment.hpp"

namespace rayreplay::kernels {
class LaunchOnDevice;
}

namespace rayreplay::scheduler {

using Swizzle = trace::Column<std::uint32_t>;

class Packing {
 public:
  static constexpr const char* kModelKind = "packing";
  virtual ~Packing() = default;
  [[nodiscard]] virtual Swizzle compute(const trace::Launch& launch, const WarpAssignment& assignment) const = 0;
  /// `device`: of this launch; null: none.
  [[nodiscard]] virtual Swizzle compute_on(const trace::Launch& launch, const WarpAssignment& assignment,
                                           kernels::LaunchOnDevice* device) const;
};

using Packings = Registry<Packing>;

/// The assignment after every thread t has become thread swizzle[t]. Parallel. Throws Input unless the swizzle is a
/// bijection. Call it by its qualified name: a Swizzle is a std::vector, so that the bare name may mean std::apply.
[[nodiscard]] WarpAssignment apply(const WarpAssignment& assignment, const Swizzle& swizzle);

/// Throws Input naming the first offending row when `swizzle` is no bijection on 0…threads−1.
void check_bijection(const Swizzle& swizzle, std::uint64_t threads, const std::string& name);

}  // namespace rayreplay::scheduler
