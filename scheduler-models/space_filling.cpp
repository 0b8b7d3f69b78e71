#include "scheduler-models/space_filling.hpp"

#include <array>
#include <cstddef>

namespace rayreplay::scheduler {
namespace {

/// Bit i goes to bit 2i.
std::uint64_t spread2(std::uint64_t v) {
  v = (v | (v << 16)) & 0x0000'FFFF'0000'FFFFU;
  v = (v | (v << 8)) & 0x00FF'00FF'00FF'00FFU;
  v = (v | (v << 4)) & 0x0F0F'0F0F'0F0F'0F0FU;
  v = (v | (v << 2)) & 0x3333'3333'3333'3333U;
  return (v | (v << 1)) & 0x5555'5555'5555'5555U;
}

/// Bit i goes to bit 3i; 21 bits.
std::uint64_t spread3(std::uint64_t v) {
  v &= 0x1F'FFFFU;
  v = (v | (v << 32)) & 0x001F'0000'0000'FFFFU;
  v = (v | (v << 16)) & 0x001F'0000'FF00'00FFU;
  v = (v | (v << 8)) & 0x100F'00F0'0F00'F00FU;
  v = (v | (v << 4)) & 0x10C3'0C30'C30C'30C3U;
  return (v | (v << 2)) & 0x1249'2492'4924'9249U;
}

/// Skilling's AxestoTranspose: afterwards the interleaved bits of the coordinates, first coordinate on top, are the
/// code.
template <std::size_t N>
void axes_to_transpose(std::array<std::uint32_t, N>& axis, int bits) {
  if (bits == 0) {
    return;
  }
  const std::uint32_t top = 1U << (bits - 1);
  for (std::uint32_t bit = top; bit > 1; bit >>= 1) {
    const std::uint32_t below = bit - 1;
    for (std::uint32_t& a : axis) {
      if ((a & bit) != 0) {
        axis[0] ^= below;
      } else {
        const std::uint32_t differing = (axis[0] ^ a) & below;
        axis[0] ^= differing;
        a ^= differing;
      }
    }
  }
  for (std::size_t i = 1; i < N; ++i) {
    axis[i] ^= axis[i - 1];
  }
  std::uint32_t flip = 0;
  for (std::uint32_t bit = top; bit > 1; bit >>= 1) {
    if ((axis[N - 1] & bit) != 0) {
      flip ^= bit - 1;
    }
  }
  for (std::uint32_t& a : axis) {
    a ^= flip;
  }
}

}  // namespace

std::uint64_t morton2(std::uint32_t x, std::uint32_t y) {
  return spread2(x) | spread2(y) << 1;
}

std::uint64_t morton3(std::uint32_t x, std::uint32_t y, std::uint32_t z) {
  return spread3(x) | spread3(y) << 1 | spread3(z) << 2;
}

std::uint64_t morton5(const std::array<std::uint32_t, 5>& axes, int bits) {
  std::uint64_t code = 0;
  for (int bit = bits; bit-- > 0;) {
    for (std::size_t axis = axes.size(); axis-- > 0;) {
      code = code << 1 | (axes[axis] >> bit & 1U);
    }
  }
  return code;
}

std::uint64_t hilbert2(std::uint32_t x, std::uint32_t y, int bits) {
  std::array<std::uint32_t, 2> axis{x, y};
  axes_to_transpose(axis, bits);
  return morton2(axis[1], axis[0]);
}

std::uint64_t hilbert3(std::uint32_t x, std::uint32_t y, std::uint32_t z, int bits) {
  std::array<std::uint32_t, 3> axis{x, y, z};
  axes_to_transpose(axis, bits);
  return morton3(axis[2], axis[1], axis[0]);
}

}  // namespace rayreplay::scheduler
