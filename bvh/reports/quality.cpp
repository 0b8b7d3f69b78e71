#include "bvh/reports/quality.hpp"

#include <algorithm>
#include <cstddef>

namespace rayreplay::bvh {
namespace {

template <class Histogram>
void count_in(Histogram& histogram, std::size_t place) {
  if (histogram.size() <= place) {
    histogram.resize(place + 1);
  }
  ++histogram[place];
}

}  // namespace

TreeQuality measure_tree(const Tree& tree, const QualityCosts& costs) {
  TreeQuality quality;
  if (tree.empty()) {
    return quality;
  }
  const double whole = half_area(tree.bounds);
  const auto chance = [&](const Box& box) { return whole > 0 ? half_area(box) / whole : 1.0; };
  quality.nodes = tree.nodes.size();
  quality.sah = costs.traversal * chance(tree.bounds);
  // Depth-first with the depth of each node. The order is fixed by the tree, so the sum is always the same.
  struct Open {
    std::uint32_t node = 0;
    std::size_t depth = 0;
  };
  std::vector<Open> open{{0, 0}};
  while (!open.empty()) {
    const auto [index, depth] = open.back();
    open.pop_back();
    const TreeNode& node = tree.nodes[index];
    for (std::uint32_t i = 0; i < node.child_count; ++i) {
      const TreeChild& child = tree.children[node.first_child + std::size_t{i}];
      if (child.is_leaf()) {
        ++quality.leaves;
        quality.references += child.count;
        quality.sah += costs.intersection * child.count * chance(child.box);
        count_in(quality.leaf_depths, depth + 1);
        count_in(quality.leaf_sizes, child.count);
      } else {
        quality.sah += costs.traversal * chance(child.box);
        open.push_back({child.index, depth + 1});
      }
    }
  }
  std::vector<std::uint32_t> references = tree.references;
  std::ranges::sort(references);
  // Not std::ranges::unique: Clang 14 (preset fuzz) cannot compile libstdc++ 12's.
  const auto repeated = std::unique(references.begin(), references.end());
  quality.items = static_cast<std::uint64_t>(repeated - references.begin());
  quality.references_per_item = static_cast<double>(quality.references) / static_cast<double>(quality.items);
  quality.mean_children = static_cast<double>(tree.children.size()) / static_cast<double>(quality.nodes);
  return quality;
}

TreeQuality measure(const PreparedScene& scene, std::size_t level, const Tree& tree, std::span<const QualityRay> rays,
                    const QualityCosts& costs, Progress* progress) {
  TreeQuality quality = measure_tree(tree, costs);
  quality.epo = end_point_overlap(scene, level, tree, costs, progress);
  const LeafCount leaves = leaf_count_variability(tree, rays);
  quality.lcv = leaves.deviation;
  quality.mean_leaves = leaves.mean;
  quality.rays = rays.size();
  return quality;
}

}  // namespace rayreplay::bvh
