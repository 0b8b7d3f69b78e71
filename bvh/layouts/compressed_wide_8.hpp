// The node of the layout compressed-wide-8: eight children in 80 bytes.
//
// Contract: the exact bytes of a record, little-endian:
//
//   | at | field             | type     | meaning                                                               |
//   | -- | ----------------- | -------- | --------------------------------------------------------------------- |
//   |  0 | origin            | float[3] | of the grid (grid.hpp)                                                |
//   | 12 | exponent          | u8[3]    | of the grid's steps                                                   |
//   | 15 | inner_mask        | u8       | bit i: slot i is a record                                             |
//   | 16 | first_child       | u32      | record of the first inner child; the others follow it                 |
//   | 20 | first_reference   | u32      | the references of all the node's leaves start here                    |
//   | 24 | meta              | u8[8]    | 0: unused; inner: 0x38 + slot; leaf: count in unary in the top three |
//   |    |                   |          | bits (001, 011, 111), first reference less first_reference below      |
//   | 32 | low[axis]         | u8[8]    | lower planes of the slots: x at 32, y at 40, z at 48                  |
//   | 56 | high[axis]        | u8[8]    | upper planes: x at 56, y at 64, z at 72                               |
//
// Children fill the slots from 0 in the tree's order; unused slots have meta 0 and planes low 255, high 0, and are to
// be masked: decoded, such planes may coincide. The record of inner slot i is first_child + the number of inner slots
// before it. Source: Ylitie, Karras and Laine, "Efficient Incoherent Ray Traversal on GPUs Through Compressed Wide
// BVHs", HPG 2017, section 3.1; not taken over: the order of slots by octant, since traversals here sort by distance.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "bvh/layout.hpp"
#include "bvh/layouts/grid.hpp"

namespace rayreplay::bvh {

struct CompressedWide8Node {
  static constexpr std::uint8_t kInner = 0x38;  ///< 001 in the top bits, 24 below

  std::array<float, 3> origin;
  std::array<std::uint8_t, 3> exponent;
  std::uint8_t inner_mask;
  std::uint32_t first_child;
  std::uint32_t first_reference;
  std::array<std::uint8_t, 8> meta;
  std::array<std::array<std::uint8_t, 8>, 3> low;
  std::array<std::array<std::uint8_t, 8>, 3> high;

  [[nodiscard]] bool used(std::size_t slot) const {
    return meta[slot] != 0;
  }
  [[nodiscard]] bool inner(std::size_t slot) const {
    return (unsigned{inner_mask} >> slot & 1U) != 0;
  }
  [[nodiscard]] Box box(std::size_t slot) const {
    Box box;
    for (unsigned axis = 0; axis < 3; ++axis) {
      const float step = grid_step(exponent[axis]);
      box.low[axis] = grid_plane(origin[axis], step, low[axis][slot]);
      box.high[axis] = grid_plane(origin[axis], step, high[axis][slot]);
    }
    return box;
  }
  /// Record of an inner slot, first reference of a leaf.
  [[nodiscard]] std::uint32_t index(std::size_t slot) const {
    const unsigned before = inner_mask & ((1U << slot) - 1U);
    return inner(slot) ? first_child + static_cast<std::uint32_t>(std::popcount(before))
                       : first_reference + (meta[slot] & 0x1FU);
  }
  [[nodiscard]] std::uint32_t count(std::size_t slot) const {
    return inner(slot) ? 0 : static_cast<std::uint32_t>(std::popcount(unsigned{meta[slot]} >> 5U));
  }
  [[nodiscard]] ChildView child(std::size_t slot) const {
    return {.box = box(slot), .index = index(slot), .count = count(slot), .block = kNoBlock};
  }
};

static_assert(std::is_trivially_copyable_v<CompressedWide8Node> && std::is_standard_layout_v<CompressedWide8Node>);
static_assert(sizeof(CompressedWide8Node) == 80 && offsetof(CompressedWide8Node, inner_mask) == 15 &&
              offsetof(CompressedWide8Node, first_child) == 16 && offsetof(CompressedWide8Node, meta) == 24 &&
              offsetof(CompressedWide8Node, low) == 32 && offsetof(CompressedWide8Node, high) == 56);

[[nodiscard]] inline const CompressedWide8Node& compressed_wide_8_node(const Level& level, std::uint32_t record) {
  return *reinterpret_cast<const CompressedWide8Node*>(level.record(record));
}

}  // namespace rayreplay::bvh
