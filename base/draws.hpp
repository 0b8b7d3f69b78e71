// Numbers from random bits (base/split_mix.hpp), the same on every machine.
//
// Contract: pure functions of 64 uniform random bits. O(1).
#pragma once

#include <cstdint>

namespace rayreplay {

/// From [0, 1): a multiple of 2^-53.
[[nodiscard]] constexpr double unit_number(std::uint64_t bits) {
  constexpr unsigned kDropped = 11;
  return static_cast<double>(bits >> kDropped) * 0x1p-53;
}

/// 0 … limit − 1, for limits up to 2^32: the upper 32 bits times the limit, divided by 2^32. The bias is less than
/// limit / 2^32.
[[nodiscard]] constexpr std::uint32_t bounded(std::uint64_t bits, std::uint64_t limit) {
  constexpr unsigned kHalf = 32;
  return static_cast<std::uint32_t>(((bits >> kHalf) * limit) >> kHalf);
}

}  // namespace rayreplay
