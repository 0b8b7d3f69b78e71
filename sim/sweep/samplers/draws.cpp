#include "sim/sweep/samplers/draws.hpp"

#include <algorithm>
#include <utility>

#include "base/split_mix.hpp"

namespace rayreplay::sweep {

double unit_number(std::uint64_t bits) {
  constexpr unsigned kDropped = 11;
  constexpr double kStep = 0x1p-53;
  return static_cast<double>(bits >> kDropped) * kStep;
}

std::uint32_t bounded(std::uint64_t bits, std::uint64_t limit) {
  // The upper 32 bits times the limit: uneven by less than limit / 2^32, which no sample of a sweep shows.
  constexpr unsigned kHalf = 32;
  return static_cast<std::uint32_t>(((bits >> kHalf) * limit) >> kHalf);
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
