// Space-filling curves: grid positions to positions along a curve.
//
// Contract: `morton*` interleave the bits of the coordinates, x lowest (Morton 1966); `hilbert*` number the cells of a
// grid of 2^bits per axis so that consecutive cells share a side (J. Skilling, "Programming the Hilbert curve", AIP
// Conf. Proc. 707, 2004). Bijections from coordinates of `bits` bits to codes of dimension·bits bits. Limits: 32 bits
// per axis in two dimensions, 21 in three, 12 in five. Morton O(1) (in five dimensions O(bits)), Hilbert O(bits).
#pragma once

#include <array>
#include <cstdint>

namespace rayreplay::scheduler {

[[nodiscard]] std::uint64_t morton2(std::uint32_t x, std::uint32_t y);
[[nodiscard]] std::uint64_t morton3(std::uint32_t x, std::uint32_t y, std::uint32_t z);
/// The first axis lowest; coordinates of `bits` bits.
[[nodiscard]] std::uint64_t morton5(const std::array<std::uint32_t, 5>& axes, int bits);
[[nodiscard]] std::uint64_t hilbert2(std::uint32_t x, std::uint32_t y, int bits);
[[nodiscard]] std::uint64_t hilbert3(std::uint32_t x, std::uint32_t y, std::uint32_t z, int bits);

}  // namespace rayreplay::scheduler
