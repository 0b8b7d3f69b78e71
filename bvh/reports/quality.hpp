// Quality of a bounding volume hierarchy (MODELS.md §9; Aila, Karras, Laine, "On quality metrics of bounding volume
// hierarchies", HPG 2013).
//
// Contract: measures of one level, over its tree as built (exact boxes) with given costs:
//
//   SAH   Σ over nodes  cost of the node · area(node) / area(root): the cost of a random line through the scene's box.
//         An inner node costs `traversal`, a leaf `intersection` for every reference. Dimensionless.
//   EPO   Σ over nodes  cost of the node · (area of surfaces inside the node's box that do not belong to its
//         subtree) / area of all surfaces: the cost of overlap for the end points of rays. Triangles are clipped
//         exactly (in double). The surface of a box primitive is that of its box, face by face; the surface of an
//         instance is that of its world box. Parts of a primitive that spatial splits put into several subtrees belong
//         to each of them.
//   LCV   standard deviation, over the given rays, of the number of leaves that a ray meets, if it enters all boxes
//         of the tree that the segment [t_min, t_max] meets (no hit shortens it). Rays that meet none count with 0.
//
// Boxes are closed: a point in a face is inside. Nodes are the tree's nodes and leaves. If all surfaces have area 0,
// EPO is 0; if the root's box has, SAH is the cost of the whole tree (each node has probability 1). Sums have a fixed
// order, so the result is the same for any number of threads. O(n log n) in ordinary scenes, parallel.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/progress.hpp"
#include "bvh/scene.hpp"
#include "bvh/tree.hpp"
#include "capture/trace/trace.hpp"

namespace rayreplay::bvh {

struct QualityCosts {
  double traversal = 1.2;   ///< of a visit to an inner node; the paper's
  double intersection = 1;  ///< of a reference
};

/// A ray in the space of the level.
struct QualityRay {
  Vec3 origin;
  Vec3 direction;
  float t_min = 0;
  float t_max = 0;
};

struct TreeQuality {
  double sah = 0;
  double epo = 0;
  double lcv = 0;
  double mean_leaves = 0;   ///< of a ray, over the same rays
  std::uint64_t rays = 0;   ///< number of rays; 0: lcv and mean_leaves are 0
  std::uint64_t nodes = 0;  ///< inner ones
  std::uint64_t leaves = 0;
  std::uint64_t references = 0;
  std::uint64_t items = 0;                 ///< different references
  double references_per_item = 0;          ///< above 1 where spatial splits duplicate
  double mean_children = 0;                ///< of a node
  std::vector<std::uint64_t> leaf_depths;  ///< [d]: leaves below d nodes; a root's leaf child has depth 1
  std::vector<std::uint64_t> leaf_sizes;   ///< [s]: leaves of s references
};

/// Everything but EPO and LCV, which need the scene and rays. O(nodes + references).
[[nodiscard]] TreeQuality measure_tree(const Tree& tree, const QualityCosts& costs = {});

/// `level`: 0 the top, 1 + blas a bottom-level structure, as in build_trees.
[[nodiscard]] double end_point_overlap(const PreparedScene& scene, std::size_t level, const Tree& tree,
                                       const QualityCosts& costs = {}, Progress* progress = nullptr);

struct LeafCount {
  double mean = 0;
  double deviation = 0;
};
[[nodiscard]] LeafCount leaf_count_variability(const Tree& tree, std::span<const QualityRay> rays);

/// Every `step`-th ray of a launch, at most `most` rays, evenly over the launch: the rays of LCV if there is a trace.
/// Invalid rays (not finite, no direction) are left out.
[[nodiscard]] std::vector<QualityRay> rays_of(const trace::Launch& launch, std::size_t most);

/// Seeded lines through the level's bounds, uniform over pairs of points on a sphere around it, as SAH assumes: the
/// rays of LCV without a trace. Fewer than `count` if their ends are beyond the floats.
[[nodiscard]] std::vector<QualityRay> random_rays(const Box& bounds, std::size_t count, std::uint64_t seed);

/// World rays in the space of an instance; rays with coordinates beyond float are left out.
[[nodiscard]] std::vector<QualityRay> to_object(const SceneInstance& instance, std::span<const QualityRay> rays);

/// All measures. Empty rays: no LCV.
[[nodiscard]] TreeQuality measure(const PreparedScene& scene, std::size_t level, const Tree& tree,
                                  std::span<const QualityRay> rays, const QualityCosts& costs = {},
                                  Progress* progress = nullptr);

}  // namespace rayreplay::bvh
