// Bits of block coordinates, for layouts of powers of two.
//
// Contract: `padded_bytes` is what a block takes: its bytes, rounded up to a power of two. `bits_for` is the number of
// bits of the coordinates below `count`. `interleaved` puts the bits of x and y in turn, x lowest (Morton 1966); what
// is left of the longer coordinate follows. So it is a bijection from x of `x_bits` bits and y of `y_bits` bits to
// numbers below 2^(x_bits + y_bits).
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

namespace rayreplay::memory {

[[nodiscard]] constexpr std::uint32_t padded_bytes(std::uint32_t block_bytes) {
  return std::bit_ceil(block_bytes);
}

[[nodiscard]] constexpr std::uint32_t bits_for(std::uint32_t count) {
  return count <= 1 ? 0 : static_cast<std::uint32_t>(std::bit_width(count - 1));
}

[[nodiscard]] constexpr std::uint64_t interleaved(std::uint32_t x, std::uint32_t x_bits, std::uint32_t y,
                                                  std::uint32_t y_bits) {
  std::uint64_t code = 0;
  std::uint32_t to = 0;
  for (std::uint32_t bit = 0; bit < std::max(x_bits, y_bits); ++bit) {
    if (bit < x_bits) {
      code |= std::uint64_t{x >> bit & 1U} << to++;
    }
    if (bit < y_bits) {
      code |= std::uint64_t{y >> bit & 1U} << to++;
    }
  }
  return code;
}

}  // namespace rayreplay::memory
