// OriginHilbert packing: threads sorted along a Hilbert curve through the origins of one of their rays (MODELS.md §6).
//
// Contract: the order of spatial_order.hpp; ties by original warp id, then lane. O(threads · bits).
#include "scheduler-models/spatial_order.hpp"

namespace rayreplay::scheduler {
namespace {

const Packings::Registrar kRegistrar({.kind = {},
                                      .name = "origin-hilbert",
                                      .summary = "Threads sorted along a Hilbert curve through a ray's origin",
                                      .text = kOriginCurveText,
                                      .source = "Skilling 2004, Programming the Hilbert curve",
                                      .parameters = spatial_parameters(kOriginBits)},
                                     [](const Parameters& parameters) {
                                       return curve_packing(parameters, sort_by_origin, Curve::Hilbert);
                                     });

}  // namespace
}  // namespace rayreplay::scheduler
