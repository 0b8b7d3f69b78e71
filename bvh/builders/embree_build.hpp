// Shared by the builders on Embree's rtcBuildBVH: the call, and the conversion of its result to a Tree.
//
// Contract: `embree_build` implements builder.hpp for one quality. Embree's coordinates are scaled by a power of two,
// so that no area of a huge or tiny scene over- or underflows; the tree's boxes are in the items' own coordinates.
// Progress advances by the number of items in all. Peak memory: about 120 bytes an item. Exceptions of callbacks are
// stored and rethrown after Embree has returned. Errors: Resource when memory runs out, Internal for other failures of
// Embree, and whatever `split` and `progress` throw.
//
// Determinism: Embree partitions in parallel and in place, which reorders items, but its splits depend on sets only:
// bins are counts and unions of boxes, and coinciding centroids are first sorted by primitive number. The remaining
// dependence on order is removed here by sorting the references of each leaf. docs/acceleration-structures.md lists
// qualities that need more.
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
  double extra_references = 0;  ///< for spatial splits: limit of additional references, as a share of the items
  bool one_thread = false;      ///< if the tree would depend on the number of threads
  /// Limit for nodes and leaves before numbering; exceeding it counts as out of memory.
  std::size_t record_bytes = std::numeric_limits<std::size_t>::max();
};

[[nodiscard]] Tree embree_build(std::vector<BuildItem> items, BuildLimits limits, const EmbreeSettings& settings,
                                const SplitFunction* split, Progress* progress);

}  // namespace rayreplay::bvh
