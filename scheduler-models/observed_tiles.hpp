// Launch tiles observed on real GPUs, by launch size (MODELS.md §5).
//
// Contract: `observed_z_order` gives the layout of the z-order model under auto:
//   1. a size of the table (ReRay thesis, table 3.1, RTX 3080): the observed tile, warp shape and quadrant order;
//   2. width and height both powers of two: tile min(W, H)² (the thesis's rule), quadrants 2-3-1-4;
//   3. any other size: tile 32×32, quadrants 2-3-1-4. Our choice: the thesis found no rule, and observed 32×32 for its
//      two uncommon sizes (1024×520, 1600×900).
// `observed_morton_groups` does the same for the morton-groups model (H200, driver 580.159.04): a size of its table,
// else groups of 2×2 warps on one curve over the whole launch, as observed at 256², 512², 1000², 2048².
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "scheduler-models/warp_grid.hpp"

namespace rayreplay::scheduler {

inline constexpr const char* kDefaultQuadrants = "2-3-1-4";

struct ObservedTile {
  std::uint32_t width;
  std::uint32_t height;
  Extent tile;
  Extent warp;  ///< with warps of 32
  const char* quadrants;
};

[[nodiscard]] std::span<const ObservedTile> observed_tiles();

struct ZOrderLayout {
  Extent tile;                 ///< as observed: not yet rounded to whole warps
  std::optional<Extent> warp;  ///< observed with warps of 32; nothing: the default shape
  const char* quadrants;
};

[[nodiscard]] ZOrderLayout observed_z_order(std::uint32_t width, std::uint32_t height);

struct MortonGroupLayout {
  Extent warp;   ///< with warps of 32
  Extent group;  ///< pixels; with warps of 32
  Extent block;  ///< groups; 0×0: the whole launch
};

/// Nothing for sizes that were not observed.
[[nodiscard]] std::optional<MortonGroupLayout> observed_morton_groups(std::uint32_t width, std::uint32_t height);

}  // namespace rayreplay::scheduler
