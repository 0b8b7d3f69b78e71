// Double to float, rounded outward: a box of floats then contains what was computed in double.
//
// Contract: results are finite; O(1).
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>

namespace rayreplay::bvh {

/// The largest float that is at most `value`; if there is none, the lowest finite one. Not for NaN.
[[nodiscard]] inline float round_down(double value) {
  const auto nearest = static_cast<float>(value);
  if (static_cast<double>(nearest) <= value) {
    return std::max(nearest, std::numeric_limits<float>::lowest());
  }
  // One step down: std::nextafter without the call, which spatial splits need for speed.
  const auto bits = std::bit_cast<std::uint32_t>(nearest);
  constexpr std::uint32_t kSign = 0x8000'0000U;
  if (nearest > 0) {
    return std::bit_cast<float>(bits - 1);
  }
  return std::max(std::bit_cast<float>(nearest == 0 ? kSign + 1 : bits + 1), std::numeric_limits<float>::lowest());
}

/// The smallest float that is at least `value`, at most the largest finite one.
[[nodiscard]] inline float round_up(double value) {
  return -round_down(-value);
}

}  // namespace rayreplay::bvh
