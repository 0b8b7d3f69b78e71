#include "capture/reference/scenes/shapes.hpp"

#include <numbers>

namespace rayreplay::reference {
namespace {

constexpr double kTurn = 2 * std::numbers::pi;
constexpr float kSharp = 0.77F;  // cosine of 40 degrees

/// A grid's poles and zero-length steps have no normals: they take their neighbours'.
void repair_normals(TriangleMesh& mesh, std::size_t first) {
  for (std::size_t i = first; i < mesh.normals.size(); ++i) {
    if (dot(mesh.normals[i], mesh.normals[i]) == 0) {
      mesh.normals[i] = i > first ? mesh.normals[i - 1] : Vec3{0, 1, 0};
    }
  }
}

}  // namespace

void add_lathe(TriangleMesh& mesh, std::span<const Vec2> profile, const Lathe& lathe) {
  const auto direction = [&](std::size_t i) {
    return normalize({profile[i + 1].x() - profile[i].x(), profile[i + 1].y() - profile[i].y(), 0});
  };
  const std::size_t first_normal = mesh.normals.size();
  std::size_t start = 0;
  for (std::size_t end = 1; end < profile.size(); ++end) {
    const bool last = end + 1 == profile.size();
    if (!last && dot(direction(end - 1), direction(end)) > kSharp) {
      continue;
    }
    const auto piece = profile.subspan(start, end - start + 1);
    const auto cells = static_cast<std::uint32_t>(piece.size() - 1);
    add_grid(mesh, lathe.segments, cells,
             {.material = lathe.material, .uv_scale = lathe.uv_scale, .wrap_u = true, .wrap_v = false},
             [&](double u, double v) {
               const Vec2 p = piece[static_cast<std::size_t>(v * cells + 0.5)];
               const double groove =
                   lathe.flutes > 0 ? 1 - lathe.depth * std::fabs(std::sin(u * kTurn * lathe.flutes / 2)) : 1.0;
               const double radius = static_cast<double>(p.x()) * groove;
               // Clockwise from above, so that du × dv points outward for a profile that rises.
               return Vec3{static_cast<float>(radius * std::cos(u * kTurn)), p.y(),
                           static_cast<float>(-radius * std::sin(u * kTurn))};
             });
    start = end;
  }
  repair_normals(mesh, first_normal);
}

void add_tube(TriangleMesh& mesh, std::span<const Vec3> path, const Tube& tube) {
  const std::size_t count = path.size();
  const auto tangent = [&](std::size_t i) {
    const std::size_t before = i > 0 ? i - 1 : (tube.closed ? count - 2 : 0);
    const std::size_t after = i + 1 < count ? i + 1 : (tube.closed ? 1 : count - 1);
    return normalize(path[after] - path[before]);
  };
  // The frame is carried along the path, so that it does not twist.
  std::vector<Vec3> side(count);
  const Vec3 t0 = tangent(0);
  Vec3 current = normalize(t0.cross(std::fabs(t0.y()) < 0.9F ? Vec3{0, 1, 0} : Vec3{1, 0, 0}));
  for (std::size_t i = 0; i < count; ++i) {
    const Vec3 t = tangent(i);
    current = normalize(current - t * dot(current, t));
    side[i] = current;
  }
  const auto cells = static_cast<std::uint32_t>(count - 1);
  add_grid(
      mesh, tube.segments, cells,
      {.material = tube.material, .uv_scale = {1, static_cast<float>(cells)}, .wrap_u = true, .wrap_v = tube.closed},
      [&](double u, double v) -> Vec3 {
        const auto i = static_cast<std::size_t>(v * cells + 0.5);
        const Vec3 up = tangent(i).cross(side[i]);
        return path[i] + (side[i] * cosine(u * kTurn) + up * sine(u * kTurn)) * tube.radius;
      });
}

void add_chamfered_slab(TriangleMesh& mesh, const Vec3& low, const Vec3& high, float chamfer, std::uint32_t material,
                        const Vec2& uv_offset) {
  const float z = high.z();
  const float back = high.z() - chamfer;
  const auto outer = [&](bool x, bool y) { return Vec3{x ? high.x() : low.x(), y ? high.y() : low.y(), back}; };
  const auto inner = [&](bool x, bool y) {
    return Vec3{x ? high.x() - chamfer : low.x() + chamfer, y ? high.y() - chamfer : low.y() + chamfer, z};
  };
  const std::size_t first_uv = mesh.uvs.size();
  mesh.add_quad(inner(false, false), inner(true, false), inner(true, true), inner(false, true), material);
  mesh.add_quad(outer(false, false), outer(true, false), inner(true, false), inner(false, false), material);
  mesh.add_quad(outer(true, false), outer(true, true), inner(true, true), inner(true, false), material);
  mesh.add_quad(outer(true, true), outer(false, true), inner(false, true), inner(true, true), material);
  mesh.add_quad(outer(false, true), outer(false, false), inner(false, false), inner(false, true), material);
  for (std::size_t i = first_uv; i < mesh.uvs.size(); ++i) {
    const Vec3 p = mesh.positions[i];
    mesh.uvs[i] = {(p.x() - low.x()) * 0.5F + uv_offset.x(), (p.y() - low.y()) * 0.5F + uv_offset.y()};
  }
}

}  // namespace rayreplay::reference
