// The boxes of a structure's nodes and instances, by element, for viewers of cache results.
//
// Contract: a record's box is the one stored in its parent (the root's: the level's bounds), so quantised layouts give
// their quantised boxes. Unreachable records have none. O(records), 40 bytes each.
#pragma once

#include <cstdint>
#include <vector>

#include <hdf5.h>

#include "app/report/export/hdf5_parts.hpp"
#include "bvh/bvh.hpp"
#include "sim/memory/allocations.hpp"

namespace rayreplay::report {

inline constexpr std::uint32_t kWorldSpace = 0xFFFF'FFFFU;

/// A record's place in the structure, and its box.
struct PlacedBox {
  std::uint64_t address = 0;
  std::uint32_t blas = kWorldSpace;  ///< the space of the box
  std::uint32_t depth = 0;           ///< of a node, below its tree's root; of an instance 0
  bvh::Box box;
};

/// Boxes of all nodes and leaf blocks of both levels, and of active instances.
[[nodiscard]] std::vector<PlacedBox> place_boxes(const bvh::Bvh& structure);

/// The group "boxes", ascending by element: `element`, `blas`, `depth`, `min_x` … `max_z`.
void write_boxes(hid_t root, const std::vector<PlacedBox>& boxes, const memory::Allocations& allocations,
                 const hdf5::Place& place);

}  // namespace rayreplay::report
