// What the builders that use Embree's rtcBuildBVH share: the call, and its result as a Tree.
//
// Contract: `embree_build` fulfils builder.hpp for one quality. Embree sees coordinates scaled by a power of two, so
// that no area of a huge or tiny scene overflows or vanishes; the boxes of the tree are in the items' own coordinates.
// Progress is advanced by the number of items in all. Peak memory: about 120 bytes an item. No exception passes through
// Embree: what goes wrong in a callback is thrown when it has returned. Errors: Resource when memory runs out, Internal
// when Embree fails otherwise, and whatever `split` and `progress` throw.
//
// Determinism: Embree partitions in parallel and in place, which reorders items, but splits by sets: bins are counts
// and unions of boxes, and where centroids coincide it sorts by primitive number first. What is left to the order is
// undone here: the references of a leaf are sorted. docs/acceleration-structures.md tells which qualities need more.
#pragma once

#include <cstddef>
#include <limits>
#include <vector>

#include "bvh/builder.hpp"
#include "bvh/embree.hpp"

namespace rayreplay::bvh {

struct EmbreeSettings {
  RTCBuildQuality quality = RTC_BUILD_QUALITY_MEDIUM;
  double traversal_cost = 1;
  double intersection_cost = 1;
  std::uint32_t min_leaf_size = 1;
  double extra_references = 0;  ///< for spatial splits: how many more references, as a share of the items
  bool one_thread = false;      ///< where the tree would depend on the number of threads
  /// More than that for nodes and leaves that have no numbers yet counts as having run out of memory.
  std::size_t record_bytes = std::numeric_limits<std::size_t>::max();
};

[[nodiscard]] Tree embree_build(std::vector<BuildItem> items, BuildLimits limits, const EmbreeSettings& settings,
                                const SplitFunction* split, Progress* progress);

}  // namespace rayreplay::bvh
