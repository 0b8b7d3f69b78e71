#include <numbers>

#include "capture/reference/scenes/hall_parts.hpp"
#include "capture/reference/scenes/shapes.hpp"

namespace rayreplay::reference::hall {
namespace {

constexpr double kPi = std::numbers::pi;

/// A square leaf of `size` at `place`: +y of its texture along `along`, its face towards `face`.
void add_leaf(TriangleMesh& mesh, const Vec3& place, const Vec3& along, const Vec3& face, float size,
              std::uint32_t leaf) {
  const Vec3 up = normalize(along);
  const Vec3 side = normalize(up.cross(face));
  const Vec3 half = side * (size / 2);
  mesh.add_quad(place - half, place + half, place + half + up * size, place - half + up * size, leaf);
}

Vec3 random_direction(SceneRandom& random) {
  const double y = random.between(-1, 1);
  const double turn = random.between(0, 2 * kPi);
  const double r = std::sqrt(1 - y * y);
  return {static_cast<float>(r * std::cos(turn)), static_cast<float>(y), static_cast<float>(r * std::sin(turn))};
}

}  // namespace

TriangleMesh curtain(float width, float height, double folds, double gather, const Detail& detail, std::uint32_t cloth,
                     SceneRandom& random) {
  TriangleMesh mesh;
  const double phase = random.between(0, 2 * kPi);
  const double drift = random.between(0.6, 1.4);
  add_grid(mesh, detail.cells(80), detail.cells(40), {.material = cloth, .uv_scale = {2, 2}}, [&](double u, double v) {
    // v = 0 is the hem: row 0 of the texture's border.
    const double below = 1 - v;
    const double fold = 2 * kPi * folds * u + phase + drift * std::sin(2.3 * below + 5 * u);
    const double depth = 0.05 + 0.09 * below;
    const double narrow = 1 - gather * below * below;
    const double x = (u - 0.5) * static_cast<double>(width) * narrow;
    const double sag = 0.06 * std::sin(kPi * u * 4) * std::sin(kPi * u * 4) * v;
    return Vec3{static_cast<float>(x + 0.03 * std::cos(fold)),
                -height * static_cast<float>(below) - static_cast<float>(sag),
                static_cast<float>(depth * std::sin(fold) + 0.08 * std::sin(3 * below + phase))};
  });
  return mesh;
}

TriangleMesh flower_pot(float radius, float height, const Detail& detail, std::uint32_t clay, std::uint32_t soil) {
  TriangleMesh mesh;
  const float r = radius;
  const float h = height;
  const std::vector<Vec2> profile{{0.55F * r, 0},         {0.62F * r, 0.06F * h}, {0.6F * r, 0.1F * h},
                                  {0.78F * r, 0.35F * h}, {0.9F * r, 0.6F * h},   {0.93F * r, 0.8F * h},
                                  {1.02F * r, 0.84F * h}, {1.05F * r, 0.92F * h}, {1.02F * r, h},
                                  {0.9F * r, h},          {0.86F * r, 0.9F * h}};
  add_lathe(mesh, profile, {.segments = detail.cells(48), .material = clay, .uv_scale = {2, 1}});
  add_lathe(mesh, std::vector<Vec2>{{0.87F * r, 0.9F * h}, {0.4F * r, 0.94F * h}, {0, 0.95F * h}},
            {.segments = detail.cells(24), .material = soil, .uv_scale = {2, 1}});
  return mesh;
}

TriangleMesh vase(float height, const Detail& detail, std::uint32_t glass) {
  TriangleMesh mesh;
  const std::uint32_t rows = detail.cells(48);
  const auto radius = [&](double t) {
    return static_cast<double>(height) *
           (0.12 + 0.16 * std::sin(kPi * (0.12 + 0.8 * t)) * (1 - 0.45 * t) + 0.05 * t * t * t);
  };
  std::vector<Vec2> profile{{0, 0}};
  for (std::uint32_t i = 0; i <= rows; ++i) {
    const double t = static_cast<double>(i) / rows;
    profile.push_back({static_cast<float>(radius(t)), height * static_cast<float>(t)});
  }
  for (std::uint32_t i = 0; i <= rows; ++i) {
    const double t = 1 - 0.94 * i / rows;
    profile.push_back(
        {static_cast<float>(radius(t) - 0.035 * static_cast<double>(height)), height * static_cast<float>(t)});
  }
  profile.push_back({0, height * 0.06F});
  add_lathe(mesh, profile, {.segments = detail.cells(72), .material = glass});
  return mesh;
}

TriangleMesh knot(float radius, const Detail& detail, std::uint32_t bronze) {
  std::vector<Vec3> path;
  const std::uint32_t steps = detail.cells(640);
  for (std::uint32_t i = 0; i <= steps; ++i) {
    const double t = 2 * kPi * (i % steps) / steps;
    const double r = 0.62 + 0.28 * std::cos(3 * t);
    path.push_back(Vec3{static_cast<float>(r * std::cos(2 * t)), static_cast<float>(r * std::sin(2 * t)),
                        static_cast<float>(0.3 * std::sin(3 * t))} *
                   radius);
  }
  TriangleMesh mesh;
  add_tube(mesh, path, {.radius = 0.13F * radius, .segments = detail.cells(56), .material = bronze, .closed = true});
  return mesh;
}

TriangleMesh lantern(float drop, const Detail& detail, std::uint32_t iron, std::uint32_t glow) {
  TriangleMesh mesh;
  const float middle = -drop;
  add_tube(mesh, std::vector<Vec3>{{0, 0, 0}, {0, -drop / 2, 0}, {0, middle + 0.28F, 0}},
           {.radius = 0.012F, .segments = 6, .material = iron});
  std::vector<Vec2> body;
  for (int i = 0; i <= 8; ++i) {
    const double angle = kPi * i / 8;
    body.push_back({0.13F * sine(angle), middle - 0.16F * cosine(angle)});
  }
  add_lathe(mesh, body, {.segments = 12, .material = glow});
  const std::uint32_t steps = detail.cells(36);
  for (int k = 0; k < 4; ++k) {
    std::vector<Vec3> rib;
    for (std::uint32_t i = 0; i <= steps; ++i) {
      const double angle = 2 * kPi * (i % steps) / steps;
      rib.push_back({0.2F * cosine(angle), middle + 0.28F * sine(angle), 0});
    }
    TriangleMesh ring;
    add_tube(ring, rib, {.radius = 0.012F, .segments = detail.cells(8), .material = iron, .closed = true});
    mesh.append(ring, rotation_y(kPi / 4 * k));
  }
  return mesh;
}

TriangleMesh palm(float size, const Detail& detail, std::uint32_t leaf, SceneRandom& random) {
  TriangleMesh mesh;
  const std::uint32_t fronds = detail.pieces(26);
  for (std::uint32_t k = 0; k < fronds; ++k) {
    const double turn = 2.4 * k + random.between(-0.2, 0.2);
    const double lean = 0.25 + 0.75 * k / fronds;
    const double length = static_cast<double>(size) * random.between(0.8, 1.1);
    TriangleMesh frond;
    add_grid(frond, 4, detail.cells(16), {.material = leaf}, [&](double u, double v) {
      // An arc that starts steep and falls over; the leaflets sink beside the rib.
      const double out = length * (lean * v * (0.5 + 0.5 * v));
      const double y = length * (v * (1.1 - 0.35 * lean) - lean * 0.75 * v * v * v);
      const double across = (u - 0.5) * 0.42 * length * (0.35 + 0.65 * std::sin(kPi * std::min(1.0, v * 1.1 + 0.1)));
      return Vec3{static_cast<float>(across), static_cast<float>(y - 0.9 * std::fabs(u - 0.5) * std::fabs(across)),
                  static_cast<float>(out)};
    });
    mesh.append(frond, rotation_y(turn));
  }
  return mesh;
}

TriangleMesh bush(float radius, const Detail& detail, std::uint32_t leaf, SceneRandom& random) {
  TriangleMesh mesh;
  const std::uint32_t leaves = detail.pieces(2600);
  for (std::uint32_t k = 0; k < leaves; ++k) {
    const Vec3 out = random_direction(random);
    const auto depth = static_cast<float>(std::cbrt(random.between(0.25, 1)));
    const Vec3 place = out * (radius * depth) + Vec3{0, radius, 0};
    const Vec3 along = normalize(random_direction(random) + Vec3{0, -0.4F, 0});
    add_leaf(mesh, place, along, normalize(out + random_direction(random) * 0.5F), radius * 0.2F, leaf);
  }
  return mesh;
}

TriangleMesh ivy(float width, float drop, std::uint32_t vines, const Detail& detail, std::uint32_t leaf,
                 std::uint32_t stem, SceneRandom& random) {
  TriangleMesh mesh;
  for (std::uint32_t k = 0; k < vines; ++k) {
    double x = random.between(0, static_cast<double>(width));
    const double length = static_cast<double>(drop) * random.between(0.25, 1);
    const std::uint32_t leaves = std::max(4U, detail.pieces(static_cast<std::uint32_t>(70 * length)));
    std::vector<Vec3> path;
    for (std::uint32_t i = 0; i < leaves; ++i) {
      const double t = static_cast<double>(i) / leaves;
      x += random.between(-0.05, 0.05);
      const Vec3 at{static_cast<float>(x), static_cast<float>(0.1 - length * t),
                    static_cast<float>(0.02 + random.between(0, 0.03))};
      if (i % 4 == 0) {
        path.push_back(at);
      }
      const auto size = static_cast<float>(random.between(0.09, 0.17) * (1.1 - 0.4 * t));
      const Vec3 beside{static_cast<float>(random.between(-0.1, 0.1)), 0, static_cast<float>(random.between(0, 0.09))};
      const Vec3 along{static_cast<float>(random.between(-0.8, 0.8)), -1, static_cast<float>(random.between(0.1, 0.5))};
      add_leaf(mesh, at + beside, along, random_direction(random) * 0.45F + Vec3{0, 0.2F, 1}, size, leaf);
    }
    if (path.size() > 1) {
      add_tube(mesh, path, {.radius = 0.008F, .segments = 4, .material = stem});
    }
  }
  return mesh;
}

}  // namespace rayreplay::reference::hall
