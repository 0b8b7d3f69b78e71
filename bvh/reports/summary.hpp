// Summary of a built acceleration structure: size, shape and quality, level by level.
//
// Contract: `trees` are those of the structure (BvhOptions::trees). Quality is that of quality.hpp over the exact
// trees; `layout_sah` is the SAH cost over the boxes that traversals test, never below `sah` except for rounding. LCV
// of the top level uses the given rays. That of a bottom-level structure uses the same rays in object space: of its k
// active instances, instance j takes every k-th ray from ray j on. Without rays, LCV uses `random_lines` lines of
// quality.hpp through each level's bounds. `bottoms` has the structures in use, ascending. Sums:
//
//   all_bottoms  nodes, bytes, references, …: each structure once. sah, layout_sah: Σ over active instances  area of
//                the world box / area of the top's bounds · that of the structure, the cost below instances of a random
//                line that meets the scene. epo, lcv, mean_leaves: means weighted by references.
//   all          top and bottoms; sah and layout_sah are sums, and so is depth; no EPO, no LCV.
//
// Deterministic for any number of threads. Cost: that of quality.hpp.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "bvh/bvh.hpp"
#include "bvh/reports/quality.hpp"

namespace rayreplay::bvh {

struct LevelSummary {
  std::uint32_t blas = 0;        ///< bottoms only
  std::uint64_t instances = 0;   ///< active ones: of the top, or that use the structure
  std::uint64_t primitives = 0;  ///< active ones; of the top: instances
  std::uint64_t records = 0;     ///< nodes and leaf blocks
  std::uint64_t bytes = 0;       ///< of the records
  std::uint32_t depth = 0;       ///< nodes above the deepest leaf
  double layout_sah = 0;
  TreeQuality quality;

  [[nodiscard]] double mean_leaf() const {
    return quality.leaves == 0 ? 0 : static_cast<double>(quality.references) / static_cast<double>(quality.leaves);
  }
};

struct BvhSummary {
  LevelSummary top;
  std::vector<LevelSummary> bottoms;
  LevelSummary all_bottoms;
  LevelSummary all;
};

struct SummaryOptions {
  std::span<const QualityRay> rays;  ///< world; empty: random lines
  std::size_t random_lines = 0;      ///< a level; 0: no LCV then
  QualityCosts costs;
  Progress* progress = nullptr;
};

[[nodiscard]] BvhSummary summarise(const Bvh& bvh, const std::vector<Tree>& trees, const SummaryOptions& options = {});

}  // namespace rayreplay::bvh
