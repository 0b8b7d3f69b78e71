// Pairs of triangles that share an edge: what a leaf of a layout with quads holds (layout.hpp, `holds_primitives`).
//
// Contract: `pair_triangles` looks at the active triangles of each geometry of a bottom-level structure in their order.
// A window holds up to 32 that have no partner yet; the first of a full window (at the end: of what is left) takes the
// first other one in the window with which it shares an edge, and both leave; without one it leaves alone. Triangles of
// one geometry only are paired, so that a pair has one opacity. An edge is shared if the vertex indices are equal;
// equal positions do not count. A pair's first triangle has the lower number, and their numbers differ by less than
// 0xFFFF. `shared_edge` finds each corner of b in a (3: not there), if at most one is missing and the others are two
// different corners of a; triangles with two equal corners share no edge by them. `name_pairs` puts the numbers of both
// triangles into the leaves of a tree over pairs, in place of the first one's. Deterministic; O(32 triangles), parallel
// over geometries. Source: quadifier.h of Embree 4's builder for Intel's hardware (kernels/rthwif/rtbuild), which also
// takes triangles without area.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "bvh/scene.hpp"
#include "bvh/tree.hpp"
#include "capture/trace/trace.hpp"

namespace rayreplay::bvh {

struct TrianglePairs {
  static constexpr std::uint16_t kSecond = 0xFFFF;

  /// By dense number: the distance to the partner behind it; 0: none; kSecond: the partner of one before it.
  std::vector<std::uint16_t> distance;

  [[nodiscard]] bool has_partner(std::uint32_t number) const {
    return distance[number] != 0 && distance[number] != kSecond;
  }
  /// Of the first triangle of a pair.
  [[nodiscard]] std::uint32_t partner(std::uint32_t number) const {
    return number + distance[number];
  }
};

using Corners = std::array<std::uint32_t, 3>;

[[nodiscard]] inline Corners corners_of(const trace::Geometry& geometry, std::uint32_t triangle) {
  const std::size_t at = std::size_t{triangle} * 3;
  return {geometry.indices[at], geometry.indices[at + 1], geometry.indices[at + 2]};
}

/// The corner of `a` that each corner of `b` is.
[[nodiscard]] std::optional<std::array<std::uint8_t, 3>> shared_edge(const Corners& a, const Corners& b);

[[nodiscard]] TrianglePairs pair_triangles(const PreparedScene& scene, std::uint32_t blas);

void name_pairs(Tree& tree, const TrianglePairs& pairs);

}  // namespace rayreplay::bvh
