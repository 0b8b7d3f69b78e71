// Tiled numrays packing: numrays inside each launch tile (ReRay thesis §3.3).
//
// Contract: ascending number of rays inside each tile of the launch order; ties by original warp id, then lane.
// O(threads).
#include "scheduler-models/packing.hpp"
#include "scheduler-models/ray_count_order.hpp"

namespace rayreplay::scheduler {
namespace {

class TiledNumRays final : public Packing {
 public:
  [[nodiscard]] Swizzle compute(const trace::Launch& launch, const WarpAssignment& assignment) const override {
    ThreadList threads = threads_by_start(assignment);
    sort_by_ray_count(launch, threads);
    return place(assignment, threads, true);
  }
};

const Packings::Registrar kRegistrar({.kind = {},
                                      .name = "tiled-numrays",
                                      .summary = "Numrays inside each launch tile",
                                      .text = "As numrays, but threads stay inside their launch tile.",
                                      .source = "ReRay thesis, section 3.3",
                                      .parameters = {}},
                                     [](const Parameters&) { return std::make_unique<TiledNumRays>(); });

}  // namespace
}  // namespace rayreplay::scheduler
