// The nodes of the layouts wide-4 and wide-8: boxes of 32-bit floats, plane by plane, as SIMD kernels load them.
//
// Contract: the exact bytes of a record, W being 4 (128 bytes) or 8 (256 bytes), little-endian, all fields 32 bits:
//
//   | field      | type     | wide-4 at  | wide-8 at  | meaning                                            |
//   | ---------- | -------- | ---------- | ---------- | -------------------------------------------------- |
//   | low[axis]  | float[W] | 0, 16, 32  | 0, 32, 64  | lower planes of the children's boxes: x, y, z      |
//   | high[axis] | float[W] | 48, 64, 80 | 96,128,160 | upper planes                                       |
//   | index      | u32[W]   | 96         | 192        | record, or first reference of a leaf               |
//   | count      | u32[W]   | 112        | 224        | 0: a record; else the references of a leaf         |
//
// Each row of a field starts on a boundary of 4·W bytes. Children fill the slots from 0 in the tree's order; the rest
// are unused: low +infinity, high −infinity, index kUnusedSlot, count 0. The slab test of box_ray.hpp enters such a box
// at infinity and so does not meet it. Boxes equal the tree's bit for bit. Source: the wide node of Wald, Benthin and
// Boulos 2008 ("Getting Rid of Packets") as Embree keeps it, the 8-byte pointer of a child cut into index and count.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "bvh/layout.hpp"

namespace rayreplay::bvh {

inline constexpr std::uint32_t kUnusedSlot = 0xFFFF'FFFFU;

template <std::size_t W>
struct alignas(64) WideNode {
  std::array<std::array<float, W>, 3> low;
  std::array<std::array<float, W>, 3> high;
  std::array<std::uint32_t, W> index;
  std::array<std::uint32_t, W> count;

  [[nodiscard]] bool used(std::size_t slot) const {
    return index[slot] != kUnusedSlot;
  }
  [[nodiscard]] Box box(std::size_t slot) const {
    return {.low = {low[0][slot], low[1][slot], low[2][slot]}, .high = {high[0][slot], high[1][slot], high[2][slot]}};
  }
  [[nodiscard]] ChildView child(std::size_t slot) const {
    return {.box = box(slot), .index = index[slot], .count = count[slot], .block = kNoBlock};
  }
};

using Wide4Node = WideNode<4>;
using Wide8Node = WideNode<8>;

static_assert(std::is_trivially_copyable_v<Wide8Node> && std::is_standard_layout_v<Wide8Node>);
static_assert(sizeof(Wide4Node) == 128 && offsetof(Wide4Node, high) == 48 && offsetof(Wide4Node, index) == 96 &&
              offsetof(Wide4Node, count) == 112);
static_assert(sizeof(Wide8Node) == 256 && offsetof(Wide8Node, high) == 96 && offsetof(Wide8Node, index) == 192 &&
              offsetof(Wide8Node, count) == 224);

template <std::size_t W>
[[nodiscard]] const WideNode<W>& wide_node(const Level& level, std::uint32_t record) {
  return *reinterpret_cast<const WideNode<W>*>(level.record(record));
}

}  // namespace rayreplay::bvh
