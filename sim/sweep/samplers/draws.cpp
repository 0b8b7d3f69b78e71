#include "sim/sweep/samplers/draws.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/split_mix.hpp"

namespace rayreplay::sweep {

DrawingSampler::DrawingSampler(const Parameters& parameters)
    : count_(static_cast<std::uint64_t>(parameters.get_int("count"))),
      seed_(static_cast<std::uint64_t>(parameters.get_int("seed"))) {}

std::uint64_t DrawingSampler::most_draws() const {
  constexpr std::uint64_t kPerPoint = 100;
  constexpr std::uint64_t kMore = 100'000;
  return kPerPoint * count_ + kMore;
}

void DrawingSampler::too_few(const char* sampler, std::uint64_t taken, std::uint64_t draws) const {
  throw Error(ErrorKind::Usage,
              {"the conditions drop nearly everything that is drawn", fmt::format("sampler '{}'", sampler),
               fmt::format("{} of {} draws could be used", taken, draws), fmt::format("{}", count_),
               "narrow the axes to where the conditions hold, or lower `count`"});
}

Parameter count_parameter() {
  return {.name = "count",
          .default_value = std::int64_t{100},
          .unit = "configurations",
          .text = "How many are drawn.",
          .minimum = 1,
          .maximum = static_cast<double>(kMaxRuns),
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

std::vector<std::uint32_t> permutation(std::uint64_t seed, std::uint64_t size) {
  std::vector<std::pair<std::uint64_t, std::uint32_t>> drawn(size);
  for (std::uint64_t i = 0; i < size; ++i) {
    drawn[i] = {split_mix(seed, i), static_cast<std::uint32_t>(i)};
  }
  std::sort(drawn.begin(), drawn.end());
  std::vector<std::uint32_t> order(size);
  for (std::uint64_t i = 0; i < size; ++i) {
    order[i] = drawn[i].second;
  }
  return order;
}

}  // namespace rayreplay::sweep
