// The node of the layout binary: two children's boxes of 32-bit floats in 64 bytes.
//
// Contract: the exact bytes of a record, little-endian, all fields 32 bits:
//
//   | at | field | type        | meaning                                          |
//   | -- | ----- | ----------- | ------------------------------------------------ |
//   |  0 | xy[0] | float[4]    | child 0: low x, high x, low y, high y            |
//   | 16 | xy[1] | float[4]    | child 1: the same                                |
//   | 32 | z     | float[2][2] | low z, high z of child 0, then of child 1        |
//   | 48 | index | u32[2]      | record, or first reference of a leaf             |
//   | 56 | count | u32[2]      | 0: a record; else the references of a leaf       |
//
// A node with one child leaves slot 1 unused: low planes +infinity, high planes −infinity, index kUnusedSlot, count 0.
// Boxes equal the tree's bit for bit. Source: Aila and Laine, "Understanding the Efficiency of Ray Traversal on GPUs",
// HPG 2009, whose two spare words hold the counts here (there a terminator in the list of triangles ends a leaf).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "bvh/layout.hpp"
#include "bvh/layouts/wide.hpp"

namespace rayreplay::bvh {

struct alignas(64) BinaryNode {
  std::array<std::array<float, 4>, 2> xy;
  std::array<std::array<float, 2>, 2> z;
  std::array<std::uint32_t, 2> index;
  std::array<std::uint32_t, 2> count;

  [[nodiscard]] bool used(std::size_t slot) const {
    return index[slot] != kUnusedSlot;
  }
  [[nodiscard]] Box box(std::size_t slot) const {
    return {.low = {xy[slot][0], xy[slot][2], z[slot][0]}, .high = {xy[slot][1], xy[slot][3], z[slot][1]}};
  }
  [[nodiscard]] ChildView child(std::size_t slot) const {
    return {.box = box(slot), .index = index[slot], .count = count[slot], .block = kNoBlock};
  }
};

static_assert(std::is_trivially_copyable_v<BinaryNode> && std::is_standard_layout_v<BinaryNode>);
static_assert(sizeof(BinaryNode) == 64 && offsetof(BinaryNode, z) == 32 && offsetof(BinaryNode, index) == 48 &&
              offsetof(BinaryNode, count) == 56);

[[nodiscard]] inline const BinaryNode& binary_node(const Level& level, std::uint32_t record) {
  return *reinterpret_cast<const BinaryNode*>(level.record(record));
}

}  // namespace rayreplay::bvh
