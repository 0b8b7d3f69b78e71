// Numrays packing: threads sorted by how many rays they traced (ReRay thesis §3.3).
//
// Contract: ascending number of rays over the whole launch; ties by original warp id, then lane. O(threads).
#include "scheduler-models/packing.hpp"
#include "scheduler-models/ray_count_order.hpp"

namespace rayreplay::scheduler {
namespace {

class NumRays final : public Packing {
 public:
  [[nodiscard]] Swizzle compute(const trace::Launch& launch, const WarpAssignment& assignment) const override {
    ThreadList threads = threads_by_start(assignment);
    sort_by_ray_count(launch, threads);
    return place(assignment, threads, false);
  }
};

const Packings::Registrar kRegistrar(
    {.kind = {},
     .name = "numrays",
     .summary = "Threads sorted by the number of rays they traced",
     .text = "Ascending; ties keep the order in which the warps started. Threads with equal work share a warp.",
     .source = "ReRay thesis, section 3.3",
     .parameters = {}},
    [](const Parameters&) { return std::make_unique<NumRays>(); });

}  // namespace
}  // namespace rayreplay::scheduler
