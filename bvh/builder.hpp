// Builders: from boxes to a tree (MODELS.md §9).
//
// Contract: `build` makes a tree over the given items with at most `branching` children a node and at most `leaf_size`
// references a leaf; items with empty boxes are left out. `split` cuts an item's box at a plane (spatial splits: exact
// clipping of triangles; null: no splits); only some builders call it. Throws Resource if the tree would need 2^32
// nodes or references or more memory than available. Deterministic for any number of threads. Progress advances by the
// number of items in all; the caller starts and finishes it. The builder may reorder the items and release them early.
// References are unique. To add one: a .cpp file in bvh/builders/.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "base/progress.hpp"
#include "base/registry.hpp"
#include "bvh/tree.hpp"

namespace rayreplay::bvh {

struct BuildItem {
  Box box;
  std::uint32_t reference = 0;
};

/// Boxes of the parts of item `reference` inside `box`, below and above `position` on `axis`.
using SplitFunction =
    std::function<void(std::uint32_t reference, const Box& box, unsigned axis, float position, Box& below, Box& above)>;

struct BuildLimits {
  std::uint32_t branching = 8;  ///< limit; also limited by the layout
  std::uint32_t leaf_size = 4;  ///< limit; also limited by the layout
};

class Builder {
 public:
  static constexpr const char* kModelKind = "builder";
  virtual ~Builder() = default;
  /// Parameters `branching` and `leaf_size` of the model; 0: the layout's own.
  [[nodiscard]] virtual BuildLimits wanted() const = 0;
  [[nodiscard]] virtual Tree build(std::vector<BuildItem> items, BuildLimits limits, const SplitFunction* split,
                                   Progress* progress) const = 0;
};

using Builders = Registry<Builder>;

}  // namespace rayreplay::bvh
