// The records of the layout quantised-6: nodes of six children, and leaf blocks, 64 bytes each.
//
// Contract: the exact bytes of a node, little-endian:
//
//   | at | field        | type     | meaning                                                                   |
//   | -- | ------------ | -------- | ------------------------------------------------------------------------- |
//   |  0 | origin       | float[3] | of the grid (grid.hpp)                                                    |
//   | 12 | child_offset | i32      | record of slot 0 less that of the node itself                             |
//   | 16 | type         | u8       | 0: a node                                                                 |
//   | 17 | zero         | u8       | 0                                                                         |
//   | 18 | exponent     | u8[3]    | of the grid's steps                                                       |
//   | 21 | mask         | u8       | 0xFF: no ray is culled here                                               |
//   | 22 | child        | u8[6]    | bits 0–1: records that the child takes (0: unused); bits 2–5: its type    |
//   | 28 | planes[axis] | u8[2][6] | lower, then upper planes of the slots: x at 28, y at 40, z at 52          |
//
// and of a leaf block, unless leaves=quads (quantised_6_leaves.hpp):
//
//   | at | field     | type    | meaning                                          |
//   | -- | --------- | ------- | ------------------------------------------------ |
//   |  0 | first     | u32     | place of its first reference in the level's list |
//   |  4 | count     | u32     | references, 1 to 14                              |
//   |  8 | reference | u32[14] | the references themselves; kNone beyond count    |
//
// Children fill the slots from 0 in the tree's order, and nodes and leaf blocks of one parent lie side by side: slot i
// starts behind the records of slot i − 1. A node, a leaf block, a quad leaf and a procedural leaf take one record, an
// instance leaf two. Type 0 is a node, 1 an instance leaf, 3 a leaf block or a procedural leaf, 4 a quad leaf. Unused
// slots have lower plane 0x80 and upper plane 0 on every axis and are to be masked by comparing those bytes: decoded,
// they may coincide. Source: InternalNode6 and ProceduralLeaf of Intel's ray tracing libraries (GRL; Embree's
// rthwif/rtbuild/qnode.h) and anv_internal_node of Mesa (src/intel/vulkan/bvh/anv_bvh.h); there the exponent is signed
// and the grid a fraction of 256, here it is that of grid.hpp, and a leaf block gives its references' place first.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "bvh/layout.hpp"
#include "bvh/layouts/grid.hpp"

namespace rayreplay::bvh {

struct alignas(64) Quantised6Node {
  static constexpr std::uint8_t kNodeType = 0;
  static constexpr std::uint8_t kInstanceType = 1;
  static constexpr std::uint8_t kLeafType = 3;  ///< leaf block, procedural leaf
  static constexpr std::uint8_t kQuadType = 4;
  static constexpr std::uint8_t kUnusedLow = 0x80;

  std::array<float, 3> origin;
  std::int32_t child_offset;
  std::uint8_t type;
  std::uint8_t zero;
  std::array<std::uint8_t, 3> exponent;
  std::uint8_t mask;
  std::array<std::uint8_t, 6> child;
  std::array<std::array<std::array<std::uint8_t, 6>, 2>, 3> planes;

  [[nodiscard]] bool used(std::size_t slot) const {
    return planes[0][0][slot] <= planes[0][1][slot];
  }
  [[nodiscard]] unsigned type_of(std::size_t slot) const {
    return unsigned{child[slot]} >> 2U;
  }
  [[nodiscard]] bool leaf(std::size_t slot) const {
    return type_of(slot) != kNodeType;
  }
  /// Records that the child takes.
  [[nodiscard]] std::uint32_t records(std::size_t slot) const {
    return child[slot] & 3U;
  }
  [[nodiscard]] Box box(std::size_t slot) const {
    Box box;
    for (unsigned axis = 0; axis < 3; ++axis) {
      const float step = grid_step(exponent[axis]);
      box.low[axis] = grid_plane(origin[axis], step, planes[axis][0][slot]);
      box.high[axis] = grid_plane(origin[axis], step, planes[axis][1][slot]);
    }
    return box;
  }
  /// Record of the child in slot 0. `self`: the node's own.
  [[nodiscard]] std::uint32_t first_record(std::uint32_t self) const {
    return self + static_cast<std::uint32_t>(child_offset);
  }
};

struct alignas(64) Quantised6Leaf {
  static constexpr std::uint32_t kMax = 14;

  std::uint32_t first;
  std::uint32_t count;
  std::array<std::uint32_t, kMax> reference;
};

static_assert(std::is_trivially_copyable_v<Quantised6Node> && std::is_standard_layout_v<Quantised6Node>);
static_assert(sizeof(Quantised6Node) == 64 && offsetof(Quantised6Node, child_offset) == 12 &&
              offsetof(Quantised6Node, exponent) == 18 && offsetof(Quantised6Node, child) == 22 &&
              offsetof(Quantised6Node, planes) == 28);
static_assert(sizeof(Quantised6Leaf) == 64 && offsetof(Quantised6Leaf, reference) == 8);

[[nodiscard]] inline const Quantised6Node& quantised_6_node(const Level& level, std::uint32_t record) {
  return *reinterpret_cast<const Quantised6Node*>(level.record(record));
}
[[nodiscard]] inline const Quantised6Leaf& quantised_6_leaf(const Level& level, std::uint32_t record) {
  return *reinterpret_cast<const Quantised6Leaf*>(level.record(record));
}

}  // namespace rayreplay::bvh
