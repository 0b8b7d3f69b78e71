// Memory instructions of a warp, lane by lane, before coalescing.
//
// Contract: a warp's instructions are in issue order. An instruction reads or writes `bytes` bytes at one address for
// each active lane, or at `pieces` addresses (the texels of a sample). Addresses, elements and threads of the first
// pieces of active lanes are rows [first, first + popcount(mask)), lowest lane first; those of the second pieces
// follow, and so on. A lane with fewer pieces than others repeats its last one. `element` is the element that the
// access counts for (allocations.hpp): a node, a box, an instance. Accesses of a face (its index triple and its
// vertices) all count for the face: the element of the index triple that the lane loaded last, or the first triangle of
// a leaf block that holds triangles. `thread` is the thread (pixel) on the lane. Memory: 24 bytes an instruction, 16 an
// active lane.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "sim/memory/data_kind.hpp"

namespace rayreplay::memory {

inline constexpr std::uint32_t kNoThread = 0xFFFF'FFFFU;

struct Instruction {
  std::uint64_t mask = 0;   ///< active lanes, at least one
  std::uint32_t first = 0;  ///< row of the lowest active lane
  std::uint32_t bytes = 0;  ///< of one lane, at least 1
  DataKind kind = DataKind::Other;
  bool store = false;
  std::uint8_t pieces = 1;  ///< addresses of each lane

  [[nodiscard]] std::uint32_t lanes() const {
    return static_cast<std::uint32_t>(std::popcount(mask));
  }
  bool operator==(const Instruction&) const = default;
};

struct Instructions {
  std::vector<Instruction> rows;
  std::vector<std::uint64_t> address;  ///< by piece and active lane
  std::vector<std::uint32_t> element;  ///< as address; kNoElement: none
  std::vector<std::uint32_t> thread;   ///< as address; kNoThread: unknown

  void clear() {
    rows.clear();
    address.clear();
    element.clear();
    thread.clear();
  }
  bool operator==(const Instructions&) const = default;
};

}  // namespace rayreplay::memory
