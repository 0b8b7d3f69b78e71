// Space-filling curves: positions on a grid to positions along a curve.
//
// Contract: `morton*` interleave the bits of the coordinates, x in the lowest place (Morton 1966); `hilbert*` number
// the cells of a grid of 2^bits per axis so that consecutive cells share a side, by J. Skilling's transform
// ("Programming the Hilbert curve", AIP Conf. Proc. 707, 2004); both are bijections from coordinates of `bits` bits to
// codes of dimension·bits bits. Limits: two dimensions 32 bits per axis, three dimensions 21. Complexity: Morton O(1),
// Hilbert O(bits).
#pragma once

#include <cstdint>

namespace rayreplay::scheduler {

[[nodiscard]] std::uint64_t morton2(std::uint32_t x, std::uint32_t y);
[[nodiscard]] std::uint64_t morton3(std::uint32_t x, std::uint32_t y, std::uint32_t z);
[[nodiscard]] std::uint64_t hilbert2(std::uint32_t x, std::uint32_t y, int bits);
[[nodiscard]] std::uint64_t hilbert3(std::uint32_t x, std::uint32_t y, std::uint32_t z, int bits);

}  // namespace rayreplay::scheduler
