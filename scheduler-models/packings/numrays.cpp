// Numrays packing: threads sorted by how many rays they traced (ReRay thesis §3.3).
//
// Contract: ascending number of rays over the whole launch; ties by original warp id, then lane. O(threads).
#include "scheduler-models/ray_count_order.hpp"
#include "scheduler-models/sorting_packing.hpp"

namespace rayreplay::scheduler {
namespace {

const Packings::Registrar kRegistrar(
    {.kind = {},
     .name = "numrays",
     .summary = "Threads sorted by the number of rays they traced",
     .text = "Ascending; ties keep the order in which the warps started. Threads with equal work share a warp.",
     .source = "ReRay thesis, section 3.3",
     .parameters = {}},
    [](const Parameters&) { return std::make_unique<SortingPacking>(sort_by_ray_count, false); });

}  // namespace
}  // namespace rayreplay::scheduler
