// The grid of a node with quantised planes: an origin in 32-bit floats, and one step per axis, a power of two.
//
// Contract: plane q (0 … 255) of an axis lies at
//
//   origin + float(q) · step
//
// in 32-bit floats: the product is exact or infinite, the sum is rounded once to nearest, nothing is fused. `step` is
// kept as the 8 bits of a float's exponent field: e stands for 2^(e − 127), 0 for a step of 0 (an axis without
// extent, whose planes are all the origin, exactly), 255 is not used. The position never decreases with q, so `below`
// and `above` find the tightest planes that hold a coordinate: what is decoded always contains what was encoded, also
// where the sum is rounded (boxes far from 0) or infinite (extents above the largest float). `fit` starts at the
// largest step of which 255 do not exceed the extent and doubles it until plane 255 reaches the far side. Coordinates
// are no NaN; a lower plane at −infinity, which only instances larger than the range of floats have, is moved to the
// lowest float. Source: Ylitie, Karras and Laine 2017, section 3.1, which leaves the rounding open.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include "bvh/geometry/box.hpp"
#include "bvh/tree.hpp"

namespace rayreplay::bvh {

[[nodiscard]] inline float grid_step(std::uint8_t exponent) {
  return std::bit_cast<float>(std::uint32_t{exponent} << 23U);
}

[[nodiscard]] inline float grid_plane(float origin, float step, std::uint8_t plane) {
  return origin + static_cast<float>(plane) * step;
}

struct Grid {
  static constexpr int kLastPlane = 255;
  static constexpr int kLastExponent = 254;

  std::array<float, 3> origin{};
  std::array<std::uint8_t, 3> exponent{};

  [[nodiscard]] float at(std::size_t axis, int plane) const {
    return grid_plane(origin[axis], grid_step(exponent[axis]), static_cast<std::uint8_t>(plane));
  }

  /// The grid with the box's lower corner as origin.
  [[nodiscard]] static Grid fit(const Box& box) {
    Grid grid;
    for (unsigned axis = 0; axis < 3; ++axis) {
      grid.origin[axis] = std::max(box.low[axis], std::numeric_limits<float>::lowest());
      const double extent = static_cast<double>(box.high[axis]) - static_cast<double>(grid.origin[axis]);
      if (extent > 0) {
        const int guess = std::isinf(extent) ? kLastExponent : binary_exponent(extent / kLastPlane) + 127;
        int exponent = std::clamp(guess, 1, kLastExponent);
        grid.exponent[axis] = static_cast<std::uint8_t>(exponent);
        while (grid.at(axis, kLastPlane) < box.high[axis]) {
          grid.exponent[axis] = static_cast<std::uint8_t>(++exponent);
        }
      }
    }
    return grid;
  }

  /// The highest plane at or below a coordinate, which is not below the origin. Of planes at one place the first, so
  /// that a box's lower plane never has a larger number than its upper one.
  [[nodiscard]] std::uint8_t below(std::size_t axis, float coordinate) const {
    int plane = guess(axis, coordinate);
    while (plane > 0 && at(axis, plane) > coordinate) {
      --plane;
    }
    while (plane < kLastPlane && at(axis, plane + 1) <= coordinate) {
      ++plane;
    }
    while (plane > 0 && at(axis, plane - 1) == at(axis, plane)) {
      --plane;
    }
    return static_cast<std::uint8_t>(plane);
  }

  /// The first plane at or above a coordinate that plane 255 reaches.
  [[nodiscard]] std::uint8_t above(std::size_t axis, float coordinate) const {
    int plane = guess(axis, coordinate);
    while (plane < kLastPlane && at(axis, plane) < coordinate) {
      ++plane;
    }
    while (plane > 0 && at(axis, plane - 1) >= coordinate) {
      --plane;
    }
    return static_cast<std::uint8_t>(plane);
  }

 private:
  /// ⌊log2⌋ of a positive finite number that is not denormal; extents of floats never are.
  [[nodiscard]] static int binary_exponent(double value) {
    return static_cast<int>(std::bit_cast<std::uint64_t>(value) >> 52U) - 1023;
  }
  [[nodiscard]] int guess(std::size_t axis, float coordinate) const {
    if (exponent[axis] == 0) {
      return 0;
    }
    // 1 / step, exactly: a power of two.
    const double inverse = std::bit_cast<double>((std::uint64_t{1023} + 127 - exponent[axis]) << 52U);
    const double steps = (static_cast<double>(coordinate) - static_cast<double>(origin[axis])) * inverse;
    return steps >= kLastPlane ? kLastPlane : steps > 0 ? static_cast<int>(steps) : 0;
  }
};

/// The box around the children of a node, which its grid must span.
[[nodiscard]] inline Box box_around(const Tree& tree, const TreeNode& node) {
  Box box;
  for (const TreeChild& child : std::span(tree.children).subspan(node.first_child, node.child_count)) {
    box.extend(child.box);
  }
  return box;
}

}  // namespace rayreplay::bvh
