// DirectionMorton packing: threads sorted along a Morton curve through the directions of one of their rays (MODELS.md
// §6).
//
// Contract: the order of spatial_order.hpp; ties by original warp id, then lane. O(threads · bits).
#include "scheduler-models/spatial_order.hpp"

namespace rayreplay::scheduler {
namespace {

const Packings::Registrar kRegistrar({.kind = {},
                                      .name = "direction-morton",
                                      .summary = "Threads sorted along a Morton curve through a ray's direction",
                                      .text = kDirectionCurveText,
                                      .source = "Morton 1966; Meyer et al. 2010 (octahedral map)",
                                      .parameters = spatial_parameters(kDirectionBits)},
                                     [](const Parameters& parameters) {
                                       return curve_packing(parameters, sort_by_direction, Curve::Morton);
                                     });

}  // namespace
}  // namespace rayreplay::scheduler
