// Random: independent draws, all points equally likely.
//
// Contract: no point is drawn twice. Small grids are visited in the order of a seeded permutation. For large grids and
// continuous factors (where whole numbers and rounding give equal values), a repeated point is drawn again. Rejected
// points are replaced, until `count` points are accepted, the whole grid was offered, or 100 · count + 100,000 draws
// were made (then Usage says how many were accepted). A larger count with the same seed begins with the same points,
// unless the larger count makes the grid count as small. O(draws · factors), and O(grid) for small ones.
#include <algorithm>
#include <string>
#include <unordered_set>

#include "base/draws.hpp"
#include "base/split_mix.hpp"
#include "sim/sweep/samplers/draws.hpp"
#include "sim/sweep/samplers/sampler.hpp"

namespace rayreplay::sweep {
namespace {

constexpr std::uint64_t kSmallGrid = std::uint64_t{1} << 20U;

class Random final : public DrawingSampler {
 public:
  explicit Random(const Parameters& parameters) : DrawingSampler(parameters) {}

  [[nodiscard]] std::uint64_t most_points(const Space& space) const override {
    return std::min(count_, space.different_points());
  }

  void sample(const Space& space, const Offer& offer) const override {
    if (!space.has_continuous() && space.discrete_points() <= std::max(kSmallGrid, 2 * count_)) {
      permute(space, offer);
    } else {
      draw(space, offer);
    }
  }

 private:
  void permute(const Space& space, const Offer& offer) const {
    const std::size_t factors = space.sizes.size();
    Point point = space.first_point();
    std::uint64_t taken = 0;
    for (std::uint64_t index : permutation(seed_, space.discrete_points())) {
      for (std::size_t f = factors; f-- > 0;) {
        point.choice[f] = static_cast<std::uint32_t>(index % space.sizes[f]);
        index /= space.sizes[f];
      }
      taken += offer(point) ? 1U : 0U;
      if (taken == count_) {
        return;
      }
    }
  }

  void draw(const Space& space, const Offer& offer) const {
    const std::size_t factors = space.sizes.size();
    const std::uint64_t points = space.different_points();
    std::unordered_set<std::string> seen;
    std::string key;
    Point point = space.first_point();
    std::uint64_t taken = 0;
    const std::uint64_t most = most_draws();
    for (std::uint64_t i = 0; i < most; ++i) {
      const std::uint64_t row = split_mix(seed_, i);
      key.clear();
      for (std::size_t f = 0; f < factors; ++f) {
        const std::uint64_t bits = split_mix(row, f);
        double value = 0;
        if (space.sizes[f] == 0) {
          point.number[f] = unit_number(bits);
          value = space.value ? space.value(f, point.number[f]) : point.number[f];
        } else {
          point.choice[f] = bounded(bits, space.sizes[f]);
          value = point.choice[f];
        }
        key.append(reinterpret_cast<const char*>(&value), sizeof value);
      }
      if (!seen.insert(key).second) {
        continue;
      }
      taken += offer(point) ? 1U : 0U;
      if (taken == count_ || seen.size() == points) {
        return;
      }
    }
    if (points <= count_ && taken > 0) {
      return;  // the remaining points are drawn too rarely
    }
    too_few("random", taken, most);
  }
};

const Samplers::Registrar kRegistrar(
    {.kind = {},
     .name = "random",
     .summary = "Configurations drawn at random, none twice",
     .text = "Every combination is as likely as any other; continuous ranges give any number in them. What conditions "
             "drop is replaced by further draws. A grid with fewer combinations than `count` is taken whole, in "
             "random order.",
     .source = "rayreplay",
     .parameters = {count_parameter(), seed_parameter()}},
    [](const Parameters& parameters) { return std::make_unique<Random>(parameters); });

}  // namespace
}  // namespace rayreplay::sweep
