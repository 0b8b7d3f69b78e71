// DirectionHilbert packing: threads sorted along a Hilbert curve through the directions of one of their rays (MODELS.md
// §6).
//
// Contract: the order of spatial_order.hpp; ties by original warp id, then lane. O(threads · bits).
#include "scheduler-models/packing.hpp"
#include "scheduler-models/spatial_order.hpp"

namespace rayreplay::scheduler {
namespace {

class DirectionHilbert final : public Packing {
 public:
  explicit DirectionHilbert(const Parameters& parameters)
      : ray_(static_cast<std::uint64_t>(parameters.get_int("ray"))),
        bits_(static_cast<int>(parameters.get_int("bits"))),
        tiled_(parameters.get_bool("tiled")) {}

  [[nodiscard]] Swizzle compute(const trace::Launch& launch, const WarpAssignment& assignment) const override {
    ThreadList threads = threads_by_start(assignment);
    sort_by_direction(launch, ray_, bits_, Curve::Hilbert, threads);
    return place(assignment, threads, tiled_);
  }

 private:
  std::uint64_t ray_;
  int bits_;
  bool tiled_;
};

const Packings::Registrar kRegistrar(
    {.kind = {},
     .name = "direction-hilbert",
     .summary = "Threads sorted along a Hilbert curve through a ray's direction",
     .text =
         "Directions are mapped to a square by the octahedral map, whose cells are numbered along the curve. Threads "
         "without that ray, or with NaN, infinity or nothing but zeros in its direction, go last.",
     .source = "Skilling 2004; Meyer et al. 2010 (octahedral map)",
     .parameters = spatial_parameters(31)},
    [](const Parameters& parameters) { return std::make_unique<DirectionHilbert>(parameters); });

}  // namespace
}  // namespace rayreplay::scheduler
