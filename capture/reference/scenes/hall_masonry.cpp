#include <array>
#include <numbers>

#include "capture/reference/scenes/hall_parts.hpp"
#include "capture/reference/scenes/shapes.hpp"

namespace rayreplay::reference::hall {
namespace {

constexpr double kPi = std::numbers::pi;

/// A half-round moulding as a profile, from y0 to y1 around `radius`.
void add_torus(std::vector<Vec2>& profile, float radius, float y0, float y1) {
  constexpr int kSteps = 8;
  const float half = (y1 - y0) / 2;
  for (int i = 0; i <= kSteps; ++i) {
    const double angle = (static_cast<double>(i) / kSteps - 0.5) * kPi;
    profile.push_back({radius + half * cosine(angle), y0 + half + half * sine(angle)});
  }
}

/// Two rings of leaves around a capital from y0 to y1; they lean out and curl at the tip.
void add_capital_leaves(TriangleMesh& mesh, float radius, float y0, float y1, const Detail& detail,
                        std::uint32_t stone) {
  for (int ring = 0; ring < 2; ++ring) {
    const float top = ring == 0 ? y0 + (y1 - y0) * 0.55F : y1;
    for (int k = 0; k < 8; ++k) {
      const double turn = (k + 0.5 * ring) * kPi / 4;
      TriangleMesh leaf;
      add_grid(leaf, detail.cells(6), detail.cells(10), {.material = stone}, [&](double u, double v) {
        const double across = (u - 0.5) * 2;
        const double width = 0.36 * static_cast<double>(radius) * std::sin(kPi * (0.22 + 0.75 * v));
        const double curl = v > 0.8 ? (v - 0.8) * 5 : 0;
        const double out =
            static_cast<double>(radius) * (1.02 + 0.1 * v + 0.3 * v * v + 0.05 * (1 - across * across)) + 0.03 * curl;
        const double y = static_cast<double>(y0) + static_cast<double>(top - y0) * (v - 0.1 * curl * curl);
        return Vec3{static_cast<float>(across * width), static_cast<float>(y), static_cast<float>(out)};
      });
      mesh.append(leaf, rotation_y(turn));
    }
  }
}

}  // namespace

TriangleMesh column(float height, float radius, const Detail& detail, std::uint32_t stone) {
  TriangleMesh mesh;
  const float r = radius;
  const float plinth = 0.35F * r;
  const float base_top = 1.15F * r;
  const float capital_bottom = height - 2.2F * r;
  const float abacus = height - 0.35F * r;
  mesh.add_box({-1.5F * r, 0, -1.5F * r}, {1.5F * r, plinth, 1.5F * r}, stone);
  mesh.add_box({-1.45F * r, abacus, -1.45F * r}, {1.45F * r, height, 1.45F * r}, stone);

  std::vector<Vec2> base;
  base.push_back({1.35F * r, plinth});
  add_torus(base, 1.25F * r, plinth, plinth + 0.36F * r);
  add_torus(base, 1.05F * r, plinth + 0.5F * r, plinth + 0.72F * r);
  base.push_back({r, base_top});
  const Lathe round{.segments = detail.cells(64), .material = stone, .uv_scale = {2, 0.3F}};
  add_lathe(mesh, base, round);

  std::vector<Vec2> shaft;
  const std::uint32_t rows = detail.cells(26);
  for (std::uint32_t i = 0; i <= rows; ++i) {
    const float t = static_cast<float>(i) / static_cast<float>(rows);
    shaft.push_back({r * (1 - 0.16F * t * t), base_top + (capital_bottom - base_top) * t});
  }
  add_lathe(mesh, shaft,
            {.segments = detail.cells(140), .material = stone, .flutes = 20, .depth = 0.07, .uv_scale = {2, 2}});

  std::vector<Vec2> bell;
  add_torus(bell, 0.86F * r, capital_bottom, capital_bottom + 0.18F * r);
  for (int i = 0; i <= 12; ++i) {
    const float t = static_cast<float>(i) / 12;
    bell.push_back(
        {r * (0.86F + 0.5F * t * t * t), capital_bottom + 0.18F * r + (abacus - capital_bottom - 0.18F * r) * t});
  }
  add_lathe(mesh, bell, round);
  add_capital_leaves(mesh, 0.86F * r, capital_bottom + 0.2F * r, abacus - 0.15F * r, detail, stone);
  return mesh;
}

TriangleMesh arch_panel(float width, float height, float thickness, float radius, const Detail& detail,
                        std::uint32_t stone, std::uint32_t trim) {
  TriangleMesh mesh;
  const float half = width / 2;
  const double corner = std::atan2(static_cast<double>(height), static_cast<double>(half));
  const auto edge = [&](double angle) {
    const float c = cosine(angle);
    const float s = sine(angle);
    const float reach = std::min(half / std::max(std::fabs(c), 1e-6F), height / std::max(s, 1e-6F));
    return Vec3{c * reach, std::max(0.0F, s * reach), 0};
  };
  // Three fans, so that the panel's corners are met exactly.
  const std::array<double, 4> angles{0, corner, kPi - corner, kPi};
  for (std::size_t part = 0; part < 3; ++part) {
    for (const float side : {1.0F, -1.0F}) {
      const std::size_t first = mesh.positions.size();
      add_grid(mesh, detail.cells(16), detail.cells(5), {.material = stone}, [&](double u, double v) -> Vec3 {
        // Seen from +z the angle runs against the clock for the front and with it for the back.
        const double along = side > 0 ? 1 - u : u;
        const double angle = angles[part] + (angles[part + 1] - angles[part]) * along;
        const Vec3 inner{radius * cosine(angle), radius * sine(angle), 0};
        return lerp(inner, edge(angle), static_cast<float>(v)) + Vec3{0, 0, side * thickness / 2};
      });
      for (std::size_t i = first; i < mesh.positions.size(); ++i) {
        mesh.uvs[i] = {mesh.positions[i].x() * 0.35F, mesh.positions[i].y() * 0.35F};
        mesh.normals[i] = {0, 0, side};
      }
    }
  }
  // The soffit, in coffers between two bands.
  add_grid(mesh, detail.cells(12), detail.cells(48), {.material = stone, .uv_scale = {0.3F, 2}},
           [&](double u, double v) {
             const double angle = kPi * v;
             const double coffer = std::fabs(u - 0.5) < 0.3 && std::fabs(std::sin(v * kPi * 9)) > 0.35 ? 0.05 : 0.0;
             const float r = radius + static_cast<float>(coffer);
             return Vec3{r * cosine(angle), r * sine(angle), (static_cast<float>(u) - 0.5F) * thickness};
           });
  std::vector<Vec3> arc;
  const std::uint32_t steps = detail.cells(56);
  for (std::uint32_t i = 0; i <= steps; ++i) {
    const double angle = kPi * i / steps;
    arc.push_back({cosine(angle), sine(angle), 0});
  }
  for (const float z : {thickness / 2, -thickness / 2}) {
    for (const auto& [reach, thick] : {std::pair{0.03F, 0.06F}, std::pair{0.24F, 0.045F}}) {
      std::vector<Vec3> path;
      for (const Vec3& p : arc) {
        path.push_back(p * (radius + reach) + Vec3{0, 0, z});
      }
      add_tube(mesh, path, {.radius = thick, .segments = detail.cells(10), .material = trim});
    }
  }
  return mesh;
}

TriangleMesh groin_vault(float side, const Detail& detail, std::uint32_t plaster, std::uint32_t rib) {
  TriangleMesh mesh;
  const double r = static_cast<double>(side) / 2;
  const auto barrel = [&](double x) { return std::sqrt(std::max(0.0, r * r - x * x)); };
  // Even steps of the angle resolve the steep springing.
  const auto spread = [&](double u) { return -r * std::cos(u * kPi); };
  add_grid(
      mesh, detail.cells(36), detail.cells(36), {.material = plaster, .uv_scale = {2, 2}}, [&](double u, double v) {
        const double x = spread(u);
        const double z = spread(v);
        return Vec3{static_cast<float>(x), static_cast<float>(std::max(barrel(x), barrel(z))), static_cast<float>(z)};
      });
  const std::uint32_t steps = detail.cells(40);
  for (const float diagonal : {1.0F, -1.0F}) {
    std::vector<Vec3> path;
    for (std::uint32_t i = 0; i <= steps; ++i) {
      const double x = spread(static_cast<double>(i) / steps);
      path.push_back({static_cast<float>(x), static_cast<float>(barrel(x)), diagonal * static_cast<float>(x)});
    }
    add_tube(mesh, path, {.radius = 0.07F, .segments = detail.cells(8), .material = rib});
  }
  return mesh;
}

TriangleMesh ashlar(float width, float height, float block_width, float block_height, float chamfer,
                    std::span<const std::uint32_t> stones, SceneRandom& random) {
  TriangleMesh mesh;
  const auto courses = static_cast<int>(std::lround(height / block_height));
  const float course = height / static_cast<float>(courses);
  for (int row = 0; row < courses; ++row) {
    const float y = static_cast<float>(row) * course;
    float x = 0;
    bool first = true;
    while (x < width - 1e-3F) {
      // Every second course starts with half a block, so that the joints do not run through.
      const float length = first && row % 2 == 1 ? block_width / 2 : block_width;
      const float end = width - (x + length) < block_width / 4 ? width : x + length;
      const auto proud = static_cast<float>(random.between(-0.006, 0.006));
      const std::uint32_t stone = stones[static_cast<std::size_t>(random.unit() * static_cast<double>(stones.size()))];
      const auto shift_u = static_cast<float>(random.unit());
      const auto shift_v = static_cast<float>(random.unit());
      add_chamfered_slab(mesh, {x, y, -0.1F}, {end, y + course, proud}, chamfer, stone, {shift_u, shift_v});
      x = end;
      first = false;
    }
  }
  return mesh;
}

TriangleMesh baluster(float height, const Detail& detail, std::uint32_t stone) {
  TriangleMesh mesh;
  const float h = height;
  std::vector<Vec2> profile;
  const std::uint32_t rows = detail.cells(24);
  for (std::uint32_t i = 0; i <= rows; ++i) {
    const double t = static_cast<double>(i) / rows;
    const double belly = 0.035 + 0.065 * std::sin(kPi * std::pow(t, 0.6)) * (1 - 0.55 * t);
    profile.push_back({static_cast<float>(belly), h * (0.1F + 0.8F * static_cast<float>(t))});
  }
  add_lathe(mesh, profile, {.segments = detail.cells(24), .material = stone});
  mesh.add_box({-0.1F, 0, -0.1F}, {0.1F, 0.1F * h, 0.1F}, stone);
  mesh.add_box({-0.1F, 0.9F * h, -0.1F}, {0.1F, h, 0.1F}, stone);
  return mesh;
}

}  // namespace rayreplay::reference::hall
