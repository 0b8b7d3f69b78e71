#include "sim/sweep/samplers/sampler.hpp"

#include <algorithm>
#include <limits>

namespace rayreplay::sweep {

std::uint64_t Space::discrete_points() const {
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t points = 1;
  for (const std::uint64_t size : sizes) {
    if (size != 0) {
      points = points > kMost / size ? kMost : points * size;
    }
  }
  return points;
}

std::uint64_t Space::different_points() const {
  Space listed{.sizes = sizes};
  for (std::size_t f = 0; f < sizes.size(); ++f) {
    if (sizes[f] == 0) {
      if (wholes.empty() || wholes[f] == 0) {
        return std::numeric_limits<std::uint64_t>::max();
      }
      listed.sizes[f] = wholes[f];
    }
  }
  return listed.discrete_points();
}

bool Space::has_continuous() const {
  return std::find(sizes.begin(), sizes.end(), 0U) != sizes.end();
}

Parameter count_parameter() {
  return {.name = "count",
          .default_value = std::int64_t{100},
          .unit = "configurations",
          .text = "How many are drawn.",
          .minimum = 1,
          .maximum = static_cast<double>(kMostRuns),
          .choices = {}};
}

Parameter seed_parameter() {
  return {.name = "seed",
          .default_value = std::int64_t{1},
          .unit = "",
          .text = "Other seeds draw others.",
          .minimum = 0,
          .choices = {}};
}

}  // namespace rayreplay::sweep
