// Packing models: thread swizzles that repack warps (MODELS.md §6).
//
// Contract: a swizzle is a bijection on thread ids: swizzle[t] is the thread whose work thread t does. `compute`
// unpacks the assignment's threads, sorts them stably by the model's key and gives the i-th place the i-th sorted
// thread. Deterministic: the same launch, assignment and parameters give the same swizzle. Memory O(threads), time
// O(threads · key length) or better; at 1280×720×6 samples under a second on one core. `compute_on` gives the same
// swizzle: a device of the launch computes it where kernels/packing/twins.cpp has the model, else the processor. To add
// a model: one .cpp file in scheduler-models/packings/ with contract, parameters, function, registration.
#pragma once

#include "base/registry.hpp"
#include "base/twin.hpp"
#include "capture/trace/accelerated_launch.hpp"
#include "scheduler-models/warp_assignment.hpp"

namespace rayreplay::scheduler {

using Swizzle = trace::Column<std::uint32_t>;

class Packing : public HasOrigin {
 public:
  static constexpr const char* kModelKind = "packing";
  virtual ~Packing() = default;
  [[nodiscard]] virtual Swizzle compute(const trace::Launch& launch, const WarpAssignment& assignment) const = 0;
  /// `accelerated`: of this launch; null: the processor.
  [[nodiscard]] Swizzle compute_on(const trace::Launch& launch, const WarpAssignment& assignment,
                                   trace::AcceleratedLaunch* accelerated) const;
};

inline constinit Twin<Swizzle(trace::AcceleratedLaunch*, const WarpAssignment&, const ModelOrigin&)> packing_twin{
    "packing"};

using Packings = Registry<Packing>;

/// The assignment after every thread t has become thread swizzle[t]. Parallel. Throws Input unless the swizzle is a
/// bijection. Call it by its qualified name: a Swizzle is a std::vector, so that the bare name may mean std::apply.
[[nodiscard]] WarpAssignment apply(const WarpAssignment& assignment, const Swizzle& swizzle);

/// Throws Input naming the first offending row when `swizzle` is no bijection on 0…threads−1.
void check_bijection(const Swizzle& swizzle, std::uint64_t threads, const std::string& name);

}  // namespace rayreplay::scheduler
