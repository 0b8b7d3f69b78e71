// Parametric surfaces for procedural scenes.
//
// Contract: everything is added to a mesh that holds normals and uvs. Surfaces are smooth within one call, with normals
// from the grid's own differences; sharp edges are made by separate calls. Grids wind so that the front side faces
// du × dv.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "capture/reference/meshes/triangle_mesh.hpp"

namespace rayreplay::reference {

struct GridStyle {
  std::uint32_t material = 0;
  Vec2 uv_scale{1, 1};
  bool wrap_u = false;  ///< the surface closes in u: normals are continuous over the seam
  bool wrap_v = false;
};

/// `point(u, v)` on a regular grid of u_cells × v_cells, u and v in [0, 1].
template <class Point>
void add_grid(TriangleMesh& mesh, std::uint32_t u_cells, std::uint32_t v_cells, const GridStyle& style, Point&& point);

/// A surface of revolution around y. The profile's points are (radius, height) from bottom to top seen from outside;
/// it is split where it turns by more than 40 degrees. `flutes` grooves of relative `depth` run along it.
struct Lathe {
  std::uint32_t segments = 32;
  std::uint32_t material = 0;
  std::uint32_t flutes = 0;
  double depth = 0;
  Vec2 uv_scale{1, 1};
};
void add_lathe(TriangleMesh& mesh, std::span<const Vec2> profile, const Lathe& lathe);

/// A round tube along a path; closed if the path's ends meet and `closed` is set.
struct Tube {
  float radius = 0.1F;
  std::uint32_t segments = 12;
  std::uint32_t material = 0;
  bool closed = false;
};
void add_tube(TriangleMesh& mesh, std::span<const Vec3> path, const Tube& tube);

/// An axis-aligned box with chamfered edges around its front (+z): a stone of a wall.
void add_chamfered_slab(TriangleMesh& mesh, const Vec3& low, const Vec3& high, float chamfer, std::uint32_t material,
                        const Vec2& uv_offset);

// Definitions of the templates.

template <class Point>
void add_grid(TriangleMesh& mesh, std::uint32_t u_cells, std::uint32_t v_cells, const GridStyle& style, Point&& point) {
  static_assert(std::is_same_v<std::invoke_result_t<Point&, double, double>, Vec3>,
                "a vector, not an expression that refers to locals");
  const auto first = static_cast<std::uint32_t>(mesh.positions.size());
  const std::uint32_t row = u_cells + 1;
  for (std::uint32_t j = 0; j <= v_cells; ++j) {
    for (std::uint32_t i = 0; i <= u_cells; ++i) {
      const double u = static_cast<double>(i) / u_cells;
      const double v = static_cast<double>(j) / v_cells;
      mesh.positions.push_back(point(u, v));
      mesh.uvs.push_back({static_cast<float>(u) * style.uv_scale.x(), static_cast<float>(v) * style.uv_scale.y()});
    }
  }
  const auto at = [&](std::uint32_t i, std::uint32_t j) { return mesh.positions[first + j * row + i]; };
  const auto neighbours = [](std::uint32_t i, std::uint32_t cells, bool wrap) {
    const std::uint32_t before = i > 0 ? i - 1 : (wrap ? cells - 1 : 0);
    const std::uint32_t after = i < cells ? i + 1 : (wrap ? 1 : cells);
    return std::pair{before, after};
  };
  for (std::uint32_t j = 0; j <= v_cells; ++j) {
    for (std::uint32_t i = 0; i <= u_cells; ++i) {
      const auto [left, right] = neighbours(i, u_cells, style.wrap_u);
      const auto [below, above] = neighbours(j, v_cells, style.wrap_v);
      mesh.normals.push_back(normalize((at(right, j) - at(left, j)).cross(at(i, above) - at(i, below))));
    }
  }
  for (std::uint32_t j = 0; j < v_cells; ++j) {
    for (std::uint32_t i = 0; i < u_cells; ++i) {
      const std::uint32_t a = first + j * row + i;
      mesh.add_triangle(a, a + 1, a + row + 1, style.material);
      mesh.add_triangle(a, a + row + 1, a + row, style.material);
    }
  }
}

}  // namespace rayreplay::reference
