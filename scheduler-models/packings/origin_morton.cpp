// OriginMorton packing: threads sorted along a Morton curve through the origins of one of their rays (MODELS.md §6).
//
// Contract: the order of spatial_order.hpp; ties by original warp id, then lane. O(threads · bits).
#include "scheduler-models/packing.hpp"
#include "scheduler-models/spatial_order.hpp"

namespace rayreplay::scheduler {
namespace {

class OriginMorton final : public Packing {
 public:
  explicit OriginMorton(const Parameters& parameters)
      : ray_(static_cast<std::uint64_t>(parameters.get_int("ray"))),
        bits_(static_cast<int>(parameters.get_int("bits"))),
        tiled_(parameters.get_bool("tiled")) {}

  [[nodiscard]] Swizzle compute(const trace::Launch& launch, const WarpAssignment& assignment) const override {
    ThreadList threads = threads_by_start(assignment);
    sort_by_origin(launch, ray_, bits_, Curve::Morton, threads);
    return place(assignment, threads, tiled_);
  }

 private:
  std::uint64_t ray_;
  int bits_;
  bool tiled_;
};

const Packings::Registrar kRegistrar(
    {.kind = {},
     .name = "origin-morton",
     .summary = "Threads sorted along a Morton curve through a ray's origin",
     .text =
         "The box of all origins of that ray is divided into equal cells along each axis, which are numbered along the "
         "curve. Threads without that ray, or with NaN or infinity in its origin, go last.",
     .source = "Morton 1966",
     .parameters = spatial_parameters(21)},
    [](const Parameters& parameters) { return std::make_unique<OriginMorton>(parameters); });

}  // namespace
}  // namespace rayreplay::scheduler
