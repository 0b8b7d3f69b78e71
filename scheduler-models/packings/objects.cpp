// Objects packing: threads sorted by the objects that they met (ReRay thesis §3.3).
//
// Contract: the order of object_order.hpp over the whole launch; ties by original warp id, then lane. O(events).
#include "scheduler-models/object_order.hpp"
#include "scheduler-models/sorting_packing.hpp"

namespace rayreplay::scheduler {
namespace {

const Packings::Registrar kRegistrar(
    {.kind = {},
     .name = "objects",
     .summary = "Threads sorted by the list of objects they met",
     .text =
         "The key is the list of (instance, primitive) of the intersection, any-hit and closest-hit calls in order, "
         "compared at the first difference; a list that continues another goes before it; ties keep the "
         "order in which the warps started.",
     .source = "ReRay thesis, section 3.3",
     .parameters = {}},
    [](const Parameters&) { return std::make_unique<SortingPacking>(sort_by_objects, false); });

}  // namespace
}  // namespace rayreplay::scheduler
