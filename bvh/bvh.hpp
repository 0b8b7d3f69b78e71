// Two-level acceleration structure over a traced scene: what traversals visit.
//
// Contract: `build_bvh` prepares the scene, builds one tree for each bottom-level structure that an active instance
// uses and one over the instances (all in parallel, with progress), and encodes them in one layout. Level `top` refers
// to instance numbers, `bottoms[blas]` to dense primitive numbers (scene.hpp). Deterministic. Specs are resolved models
// ("medium:branching=8,…"). `enlarge` pushes the planes of every leaf's box outward by this share of the box's diagonal
// before the tree's inner boxes are formed: the known enlargement of experiments; 0 changes nothing. Errors: those of
// scene.hpp, builder.hpp and layout.hpp; a scene without any active primitive gives empty levels, no error.
//
// Addresses: `memory` says where each array would lie on a device: nodes, instance records (64 bytes, the size of
// VkAccelerationStructureInstanceKHR), index triples (12 bytes), vertices (12 bytes), boxes (24 bytes), each array on a
// boundary of 256 bytes, from 0 up in this order: top nodes, instances, then for each bottom-level structure in use
// its nodes, and for each of its geometries indices and vertices, or boxes. Traversals of layouts that hold primitives
// read nodes alone: the other arrays are what the application gave, and are not counted in `read`.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/progress.hpp"
#include "bvh/builder.hpp"
#include "bvh/geometry/leaf_triangles.hpp"
#include "bvh/layout.hpp"
#include "bvh/scene.hpp"
#include "bvh/vertex_order.hpp"

namespace rayreplay::bvh {

inline constexpr std::uint32_t kInstanceBytes = 64;
inline constexpr std::uint32_t kIndexBytes = 12;  ///< of one triangle
inline constexpr std::uint32_t kVertexBytes = 12;
inline constexpr std::uint32_t kBoxBytes = 24;

struct BvhOptions {
  std::string builder = "medium";
  std::string layout = "wide-8";
  std::string node_order = "depth-first";
  std::string vertex_order = "as-given";
  double enlarge = 0;
  std::uint32_t leaf_size = 0;  ///< overrides the builder's; 0: does not
  Progress* progress = nullptr;
  std::vector<Tree>* trees = nullptr;  ///< output of the trees, as by `build_trees`; may be null
};

struct GeometryMemory {
  std::uint64_t indices = 0;   ///< triangles
  std::uint64_t vertices = 0;  ///< triangles
  std::uint64_t boxes = 0;
  std::vector<std::uint32_t> vertex_place;  ///< of vertex_order.hpp; empty: as given
};

struct MemoryMap {
  std::uint64_t top_nodes = 0;
  std::uint64_t instances = 0;
  std::vector<std::uint64_t> bottom_nodes;  ///< per blas
  std::vector<GeometryMemory> geometries;   ///< per row of Scene::geometries
  std::uint64_t end = 0;
  std::uint64_t read = 0;  ///< bytes of the arrays that traversals read, each rounded up to its boundary
};

struct BuildTimes {
  double prepare_s = 0, build_s = 0, layout_s = 0;  ///< wall clock
};

struct Bvh {
  PreparedScene scene;
  std::string builder, layout_spec, node_order, vertex_order;  ///< resolved specs
  double enlarge = 0;
  /// True: instances are entered, and primitives are tested, only if the ray also meets their own box. False: the box
  /// of the leaf decides, as in hardware that stores no other boxes. build_bvh always sets true; simulate.cpp sets
  /// false.
  bool own_boxes = true;
  std::shared_ptr<const Layout> layout;
  LayoutTraits traits;
  Level top;
  std::vector<Level> bottoms;                 ///< per blas; empty where unused
  std::vector<LeafTriangles> leaf_triangles;  ///< per blas; for layouts whose kernels use them (wide-8)
  MemoryMap memory;
  BuildTimes times;
};

/// `name` stands for the trace in messages. The scene must outlive the result.
[[nodiscard]] Bvh build_bvh(const trace::Scene& scene, std::uint32_t tlas, const std::string& name,
                            const BvhOptions& options = {});

/// The trees themselves, for quality and tests: [0] over the instances, [1 + blas] of each blas in use.
/// `pairs`: items are pairs of triangles where they share an edge, one a leaf (triangle_pairs.hpp).
[[nodiscard]] std::vector<Tree> build_trees(const PreparedScene& scene, const Builder& builder, BuildLimits limits,
                                            double enlarge, Progress* progress, bool pairs = false);

}  // namespace rayreplay::bvh
