// The node of the layout half-4: four children with boxes in half precision, 64 bytes.
//
// Contract: the exact bytes of a record, little-endian:
//
//   | at | field  | type         | meaning                                                                        |
//   | -- | ------ | ------------ | ------------------------------------------------------------------------------ |
//   |  0 | child  | u32[4]       | kUnusedSlot: unused; bit 31 clear: a record; set: a leaf, bits 28–30 its count |
//   |    |        |              | less one, bits 0–27 its first reference                                        |
//   | 16 | planes | half[4][2][3]| of each slot: low x y z, high x y z                                            |
//
// Planes are rounded outward (half.hpp). Beyond ±65504 outward is infinite: a plane at −infinity or +infinity does not
// bound its slab, which is legal, and the slab test of box_ray.hpp makes no NaN of it. Unused slots have low +infinity
// and high −infinity besides the reserved child. Children fill the slots from 0 in the tree's order. Source: the 16-bit
// box node of AMD's RDNA 2 as Mesa writes it (radv_bvh_box16_node); there a child is an address with a node type in
// its low bits and leaves are nodes of one primitive.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "bvh/layout.hpp"
#include "bvh/layouts/half.hpp"
#include "bvh/layouts/wide.hpp"

namespace rayreplay::bvh {

struct alignas(64) Half4Node {
  static constexpr std::uint32_t kLeaf = 0x8000'0000U;
  static constexpr std::uint32_t kCountShift = 28;
  static constexpr std::uint32_t kMaxLeaf = 8;
  static constexpr std::uint32_t kIndexMask = (1U << kCountShift) - 1;

  std::array<std::uint32_t, 4> child_bits;
  std::array<std::array<std::array<std::uint16_t, 3>, 2>, 4> planes;

  [[nodiscard]] bool used(std::size_t slot) const {
    return child_bits[slot] != kUnusedSlot;
  }
  [[nodiscard]] Box box(std::size_t slot) const {
    const auto& [low, high] = planes[slot];
    return {.low = {from_half(low[0]), from_half(low[1]), from_half(low[2])},
            .high = {from_half(high[0]), from_half(high[1]), from_half(high[2])}};
  }
  [[nodiscard]] bool leaf(std::size_t slot) const {
    return (child_bits[slot] & kLeaf) != 0;
  }
  [[nodiscard]] std::uint32_t index(std::size_t slot) const {
    return leaf(slot) ? child_bits[slot] & kIndexMask : child_bits[slot];
  }
  [[nodiscard]] std::uint32_t count(std::size_t slot) const {
    return leaf(slot) ? (child_bits[slot] >> kCountShift & 7U) + 1 : 0;
  }
  [[nodiscard]] ChildView child(std::size_t slot) const {
    return {.box = box(slot), .index = index(slot), .count = count(slot), .block = kNoBlock};
  }
};

static_assert(std::is_trivially_copyable_v<Half4Node> && std::is_standard_layout_v<Half4Node>);
static_assert(sizeof(Half4Node) == 64 && offsetof(Half4Node, planes) == 16);

[[nodiscard]] inline const Half4Node& half_4_node(const Level& level, std::uint32_t record) {
  return *reinterpret_cast<const Half4Node*>(level.record(record));
}

/// Throws Resource for more than the fields can number: 2^31 nodes or 2^28 − 1 references.
void require_half_4_room(std::uint64_t nodes, std::uint64_t references);

}  // namespace rayreplay::bvh
