// Packing models: thread swizzles that repack warps (MODELS.md §6).
//
// Contract: a swizzle is a bijection on thread ids: swizzle[t] is the thread whose work thread t does. `compute` sorts
// the assignment's threads stably by the model's key; the i-th place gets the i-th sorted thread. Deterministic in
// launch, assignment and parameters. Memory O(threads), time O(threads · key length) or better; 1280×720×6 samples take
// less than a second on one core. `compute_on` gives the same swizzle, on a device of the launch where
// kernels/packing/twins.cpp has the model. To add a model: one .cpp file in scheduler-models/packings/ with contract,
// parameters, function, registration.
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
  /// `accelerated`: devices of this launch. Null: computed on the CPU.
  [[nodiscard]] Swizzle compute_on(const trace::Launch& launch, const WarpAssignment& assignment,
                                   trace::AcceleratedLaunch* accelerated) const;
};

inline constinit Twin<Swizzle(trace::AcceleratedLaunch*, const WarpAssignment&, const ModelOrigin&)> packing_twin{
    "packing"};

using Packings = Registry<Packing>;

/// The assignment with thread t replaced by thread swizzle[t]. Parallel. Input unless the swizzle is a bijection. Call
/// it by its qualified name: Swizzle is a std::vector, so the bare name may find std::apply.
[[nodiscard]] WarpAssignment apply(const WarpAssignment& assignment, const Swizzle& swizzle);

/// Input with the first wrong row unless `swizzle` is a bijection on 0…threads−1.
void check_bijection(const Swizzle& swizzle, std::uint64_t threads, const std::string& name);

}  // namespace rayreplay::scheduler
