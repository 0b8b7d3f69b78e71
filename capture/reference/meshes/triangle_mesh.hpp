// A triangle mesh under construction, with a material per triangle.
//
// Contract: normals and uvs are empty or hold one entry per vertex. Triangles are counter-clockwise seen from outside.
// Helpers add to the mesh with shared vertices only where the surface is smooth.
#pragma once

#include <cstdint>
#include <vector>

#include "capture/reference/vec.hpp"

namespace rayreplay::reference {

struct TriangleMesh {
  std::vector<Vec3> positions;
  std::vector<Vec3> normals;
  std::vector<Vec2> uvs;
  std::vector<std::uint32_t> indices;   ///< three per triangle
  std::vector<std::uint32_t> material;  ///< one per triangle

  [[nodiscard]] std::size_t triangles() const {
    return indices.size() / 3;
  }
  void add_triangle(std::uint32_t a, std::uint32_t b, std::uint32_t c, std::uint32_t material_id);
  /// Corners counter-clockwise; flat. uv runs from 0 to uv_scale along ab (u) and ad (v). Meshes of this kind hold
  /// normals and uvs.
  void add_quad(const Vec3& a, const Vec3& b, const Vec3& c, const Vec3& d, std::uint32_t material_id,
                const Vec2& uv_scale = {1, 1});
  void add_box(const Vec3& low, const Vec3& high, std::uint32_t material_id, float uv_per_unit = 1);
  /// All of `other`, moved.
  void append(const TriangleMesh& other, const Transform& transform);
};

/// Triangles without area: equal indices, or corners on a line.
[[nodiscard]] std::uint64_t count_degenerate(const TriangleMesh& mesh);

}  // namespace rayreplay::reference
