#include "sim/sweep/samplers/sampler.hpp"

#include <algorithm>
#include <limits>

namespace rayreplay::sweep {

std::uint64_t Space::discrete_points() const {
  constexpr std::uint64_t kMax = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t points = 1;
  for (const std::uint64_t size : sizes) {
    if (size != 0) {
      points = points > kMax / size ? kMax : points * size;
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

Point Space::first_point() const {
  return {.choice = std::vector<std::uint32_t>(sizes.size()), .number = std::vector<double>(sizes.size())};
}

}  // namespace rayreplay::sweep
