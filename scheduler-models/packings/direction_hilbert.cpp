// DirectionHilbert packing: threads sorted along a Hilbert curve through the directions of one of their rays (MODELS.md
// §6).
//
// Contract: the order of spatial_order.hpp; ties by original warp id, then lane. O(threads · bits).
#include "scheduler-models/spatial_order.hpp"

namespace rayreplay::scheduler {
namespace {

const Packings::Registrar kRegistrar({.kind = {},
                                      .name = "direction-hilbert",
                                      .summary = "Threads sorted along a Hilbert curve through a ray's direction",
                                      .text = kDirectionCurveText,
                                      .source = "Skilling 2004; Meyer et al. 2010 (octahedral map)",
                                      .parameters = spatial_parameters(kDirectionBits)},
                                     [](const Parameters& parameters) {
                                       return curve_packing(parameters, sort_by_direction, Curve::Hilbert);
                                     });

}  // namespace
}  // namespace rayreplay::scheduler
