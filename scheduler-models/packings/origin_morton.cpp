// OriginMorton packing: threads sorted along a Morton curve through the origins of one of their rays (MODELS.md §6).
//
// Contract: the order of spatial_order.hpp; ties by original warp id, then lane. O(threads · bits).
#include "scheduler-models/spatial_order.hpp"

namespace rayreplay::scheduler {
namespace {

const Packings::Registrar kRegistrar({.kind = {},
                                      .name = "origin-morton",
                                      .summary = "Threads sorted along a Morton curve through a ray's origin",
                                      .text = kOriginCurveText,
                                      .source = "Morton 1966",
                                      .parameters = spatial_parameters(kOriginBits)},
                                     [](const Parameters& parameters) {
                                       return curve_packing(parameters, sort_by_origin, Curve::Morton);
                                     });

}  // namespace
}  // namespace rayreplay::scheduler
