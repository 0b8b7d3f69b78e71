// Tiled objects packing: objects inside each launch tile (ReRay thesis §3.3).
//
// Contract: the order of object_order.hpp inside each tile of the launch order; ties by original warp id, then lane.
// O(events).
#include "scheduler-models/object_order.hpp"
#include "scheduler-models/sorting_packing.hpp"

namespace rayreplay::scheduler {
namespace {

const Packings::Registrar kRegistrar({.kind = {},
                                      .name = "tiled-objects",
                                      .summary = "Objects inside each launch tile",
                                      .text = "As objects, but threads stay inside their launch tile.",
                                      .source = "ReRay thesis, section 3.3",
                                      .parameters = {}},
                                     [](const Parameters&) {
                                       return std::make_unique<SortingPacking>(sort_by_objects, true);
                                     });

}  // namespace
}  // namespace rayreplay::scheduler
