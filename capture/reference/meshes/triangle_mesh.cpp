#include "capture/reference/meshes/triangle_mesh.hpp"

namespace rayreplay::reference {

void TriangleMesh::add_triangle(std::uint32_t a, std::uint32_t b, std::uint32_t c, std::uint32_t material_id) {
  indices.insert(indices.end(), {a, b, c});
  material.push_back(material_id);
}

void TriangleMesh::add_quad(const Vec3& a, const Vec3& b, const Vec3& c, const Vec3& d, std::uint32_t material_id,
                            const Vec2& uv_scale) {
  const auto first = static_cast<std::uint32_t>(positions.size());
  // The diagonals' cross product is the normal of a planar quad even where two corners coincide.
  const Vec3 normal = normalize((c - a).cross(d - b));
  positions.insert(positions.end(), {a, b, c, d});
  normals.insert(normals.end(), {normal, normal, normal, normal});
  uvs.insert(uvs.end(), {Vec2{0, 0}, Vec2{uv_scale.x(), 0}, uv_scale, Vec2{0, uv_scale.y()}});
  add_triangle(first, first + 1, first + 2, material_id);
  add_triangle(first, first + 2, first + 3, material_id);
}

void TriangleMesh::add_box(const Vec3& low, const Vec3& high, std::uint32_t material_id, float uv_per_unit) {
  const auto corner = [&](bool x, bool y, bool z) {
    return Vec3{x ? high.x() : low.x(), y ? high.y() : low.y(), z ? high.z() : low.z()};
  };
  const Vec3 size = (high - low) * uv_per_unit;
  add_quad(corner(false, false, true), corner(true, false, true), corner(true, true, true), corner(false, true, true),
           material_id, {size.x(), size.y()});
  add_quad(corner(true, false, false), corner(false, false, false), corner(false, true, false),
           corner(true, true, false), material_id, {size.x(), size.y()});
  add_quad(corner(true, false, true), corner(true, false, false), corner(true, true, false), corner(true, true, true),
           material_id, {size.z(), size.y()});
  add_quad(corner(false, false, false), corner(false, false, true), corner(false, true, true),
           corner(false, true, false), material_id, {size.z(), size.y()});
  add_quad(corner(false, true, true), corner(true, true, true), corner(true, true, false), corner(false, true, false),
           material_id, {size.x(), size.z()});
  add_quad(corner(false, false, false), corner(true, false, false), corner(true, false, true),
           corner(false, false, true), material_id, {size.x(), size.z()});
}

void TriangleMesh::append(const TriangleMesh& other, const Transform& transform) {
  const auto first = static_cast<std::uint32_t>(positions.size());
  const bool mirrored = is_mirroring(transform);
  for (const Vec3& position : other.positions) {
    positions.push_back(transform_point(transform, position));
  }
  for (const Vec3& normal : other.normals) {
    const Vec3 turned = normalize(transform_normal(transform, normal));
    normals.push_back(mirrored ? -turned : turned);
  }
  uvs.insert(uvs.end(), other.uvs.begin(), other.uvs.end());
  for (std::size_t t = 0; t < other.triangles(); ++t) {
    const std::uint32_t* corner = &other.indices[t * 3];
    add_triangle(first + corner[0], first + corner[mirrored ? 2 : 1], first + corner[mirrored ? 1 : 2],
                 other.material[t]);
  }
}

std::uint64_t count_degenerate(const TriangleMesh& mesh) {
  std::uint64_t count = 0;
  for (std::size_t t = 0; t < mesh.triangles(); ++t) {
    const Vec3 a = mesh.positions[mesh.indices[t * 3]];
    const Vec3 normal =
        (mesh.positions[mesh.indices[t * 3 + 1]] - a).cross(mesh.positions[mesh.indices[t * 3 + 2]] - a);
    count += normal == Vec3::Zero() ? 1U : 0U;
  }
  return count;
}

}  // namespace rayreplay::reference
