// OriginDirectionMorton packing: threads sorted along one Morton curve through the origins and directions of one of
// their rays (MODELS.md §6).
//
// Contract: the order of spatial_order.hpp; ties by original warp id, then lane. O(threads · bits).
#include "scheduler-models/sorting_packing.hpp"
#include "scheduler-models/spatial_order.hpp"

namespace rayreplay::scheduler {
namespace {

const Packings::Registrar kRegistrar(
    {.kind = {},
     .name = "origin-direction-morton",
     .summary = "Threads sorted along a Morton curve through a ray's origin and direction",
     .text = "The box of all origins of that ray is divided into equal cells along each axis, and so is the square to "
             "which directions are mapped by the octahedral map. The cells of both, five axes, are numbered along one "
             "curve. Threads without that ray, with NaN or infinity in its origin or direction, or with a zero "
             "direction, go "
             "last.",
     .source =
         "Aila and Karras 2010 (one curve through origin and direction); Meister et al. 2020 (comparison of keys)",
     .parameters = spatial_parameters(kBothBits)},
    [](const Parameters& parameters) {
      const auto ray = static_cast<std::uint64_t>(parameters.get_int("ray"));
      const auto bits = static_cast<int>(parameters.get_int("bits"));
      return std::make_unique<SortingPacking>(
          [=](const trace::Launch& launch, ThreadList& threads) {
            sort_by_origin_and_direction(launch, ray, bits, threads);
          },
          parameters.get_bool("tiled"));
    });

}  // namespace
}  // namespace rayreplay::scheduler
