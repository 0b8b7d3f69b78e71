// Tiled numrays packing: numrays inside each launch tile (ReRay thesis §3.3).
//
// Contract: ascending number of rays inside each tile of the launch order; ties by original warp id, then lane.
// O(threads).
#include "scheduler-models/ray_count_order.hpp"
#include "scheduler-models/sorting_packing.hpp"

namespace rayreplay::scheduler {
namespace {

const Packings::Registrar kRegistrar({.kind = {},
                                      .name = "tiled-numrays",
                                      .summary = "Numrays inside each launch tile",
                                      .text = "As numrays, but threads stay inside their launch tile.",
                                      .source = "ReRay thesis, section 3.3",
                                      .parameters = {}},
                                     [](const Parameters&) {
                                       return std::make_unique<SortingPacking>(sort_by_ray_count, true);
                                     });

}  // namespace
}  // namespace rayreplay::scheduler
