// Grid: every combination of the axes' values.
//
// Contract: nested loops over the factors in the order of the file, the last one innermost. O(points · factors).
#include "sim/sweep/samplers/sampler.hpp"

namespace rayreplay::sweep {
namespace {

class Grid final : public Sampler {
 public:
  [[nodiscard]] bool draws_numbers() const override {
    return false;
  }
  [[nodiscard]] std::uint64_t most_points(const Space& space) const override {
    return space.discrete_points();
  }

  void sample(const Space& space, const Offer& offer) const override {
    const std::size_t factors = space.sizes.size();
    Point point = space.first_point();
    for (std::size_t advanced = 0; advanced != factors;) {
      offer(point);
      // Counts like an odometer, the last factor fastest.
      for (advanced = 0; advanced < factors; ++advanced) {
        std::uint32_t& digit = point.choice[factors - 1 - advanced];
        if (++digit < space.sizes[factors - 1 - advanced]) {
          break;
        }
        digit = 0;
      }
    }
  }
};

const Samplers::Registrar kRegistrar(
    {.kind = {},
     .name = "grid",
     .summary = "Every combination of the axes' values",
     .text = "The product of all axes in the order of the file; the last axis moves fastest. Axes need values: a "
             "continuous range has none.",
     .source = "rayreplay",
     .parameters = {}},
    [](const Parameters&) { return std::make_unique<Grid>(); });

}  // namespace
}  // namespace rayreplay::sweep
