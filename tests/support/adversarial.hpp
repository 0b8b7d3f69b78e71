// Adversarial scenes: geometry on which a careless traversal or intersection test goes wrong.
//
//   for (const AdversarialScene& scene : adversarial_scenes(seed)) … adversarial_rays(scene.scene, count, seed) …
//
// The same seed gives the same scenes on every machine. Rays for them are in adversarial_rays.hpp.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "capture/trace/trace.hpp"
#include "tests/support/random_trace.hpp"

namespace rayreplay::test {

using Vec = std::array<double, 3>;
using Matrix = std::array<float, 12>;

struct AdversarialScene {
  std::string name;
  trace::Scene scene;
  /// Coordinates whose products stay far from the ends of a float's range: Embree 3 is only right there.
  bool in_float_range = true;
  bool closed = false;  ///< one mesh without holes around the origin: a ray from there must hit
  /// What is hit is about as large as the rounding of single precision: no two answers need agree there.
  bool of_rounding_size = false;
};

/// Builds a scene part by part: `mesh` and `boxes` make a geometry, `structure` a blas of those since the last one.
class SceneBuilder {
 public:
  explicit SceneBuilder(std::uint64_t seed) : random(seed) {}

  void mesh(const std::vector<Vec>& vertices, const std::vector<std::uint32_t>& indices, bool opaque = true) {
    trace::Geometry geometry;
    geometry.opaque = opaque;
    for (const Vec& vertex : vertices) {
      for (const double x : vertex) {
        geometry.vertices.push_back(static_cast<float>(x));
      }
    }
    geometry.indices.assign(indices.begin(), indices.end());
    scene.geometries.push_back(std::move(geometry));
  }
  void loose(const std::vector<Vec>& corners, bool opaque = true) {
    std::vector<std::uint32_t> indices(corners.size());
    for (std::uint32_t i = 0; i < indices.size(); ++i) {
      indices[i] = i;
    }
    mesh(corners, indices, opaque);
  }
  void boxes(const std::vector<float>& rows, bool opaque = true) {
    trace::Geometry geometry;
    geometry.type = trace::GeometryType::Boxes;
    geometry.opaque = opaque;
    geometry.boxes.assign(rows.begin(), rows.end());
    scene.geometries.push_back(std::move(geometry));
  }
  std::uint32_t structure() {
    std::uint32_t first = 0;
    for (const trace::Blas& blas : scene.blases) {
      first += blas.geometry_count;
    }
    scene.blases.push_back({first, static_cast<std::uint32_t>(scene.geometries.size()) - first});
    return static_cast<std::uint32_t>(scene.blases.size()) - 1;
  }
  void place(std::uint32_t blas, const Matrix& transform = trace::Instance{}.transform, std::uint8_t flags = 0) {
    trace::Instance instance;
    instance.blas = blas;
    instance.transform = transform;
    instance.flags = flags;
    scene.instances.push_back(instance);
  }
  double unit() {
    return static_cast<double>(random.unit());
  }
  Vec point(double scale = 1) {
    return {unit() * scale, unit() * scale, unit() * scale};
  }
  /// About 10^low … 10^high. Products alone: the same on every machine.
  double size(int low, int high) {
    double result = 1 + 9 * (unit() + 1) / 2;
    const int power = low + static_cast<int>(random.below(static_cast<std::uint64_t>(high - low)));
    for (int i = 0; i < std::abs(power); ++i) {
      result = power > 0 ? result * 10 : result / 10;
    }
    return result;
  }

  trace::Scene scene;
  Random random;
};

namespace adversarial {

inline Vec operator+(const Vec& a, const Vec& b) {
  return {a[0] + b[0], a[1] + b[1], a[2] + b[2]};
}
inline Vec operator*(const Vec& a, double s) {
  return {a[0] * s, a[1] * s, a[2] * s};
}

inline std::vector<Vec> soup(SceneBuilder& kit, std::uint32_t triangles, double scale) {
  std::vector<Vec> corners;
  for (std::uint32_t i = 0; i < triangles; ++i) {
    const Vec at = kit.point(scale);
    for (int corner = 0; corner < 3; ++corner) {
      corners.push_back(at + kit.point(0.25 * scale));
    }
  }
  return corners;
}

inline AdversarialScene soup_scene(const std::string& name, std::uint64_t seed, double scale, bool in_range) {
  SceneBuilder kit(seed);
  kit.loose(soup(kit, 500, scale));
  kit.loose(soup(kit, 100, scale), false);
  kit.place(kit.structure());
  return {name, kit.scene, in_range, false};
}

inline AdversarialScene slivers(std::uint64_t seed) {
  SceneBuilder kit(seed);
  std::vector<Vec> corners;
  for (int i = 0; i < 400; ++i) {
    const Vec at = kit.point();
    const Vec along = kit.point();
    corners.insert(corners.end(), {at, at + along, at + along * 0.3 + kit.point(1e-6)});
  }
  kit.loose(corners);
  kit.place(kit.structure());
  return {"slivers", kit.scene, true, false, true};
}

inline AdversarialScene mixed_scales(std::uint64_t seed) {
  SceneBuilder kit(seed);
  std::vector<Vec> corners;
  for (int i = 0; i < 500; ++i) {
    const double size = kit.size(-6, 3);
    const Vec at = kit.point(size * 2);
    for (int corner = 0; corner < 3; ++corner) {
      corners.push_back(at + kit.point(size));
    }
  }
  kit.loose(corners);
  kit.place(kit.structure());
  return {"mixed scales", kit.scene};
}

/// Points, segments and needles without extent among sound triangles.
inline AdversarialScene degenerate(std::uint64_t seed) {
  SceneBuilder kit(seed);
  std::vector<Vec> corners = soup(kit, 200, 1);
  for (int i = 0; i < 100; ++i) {
    const Vec a = kit.point();
    const Vec b = kit.point();
    corners.insert(corners.end(), {a, a, a});
    corners.insert(corners.end(), {a, b, a});
    corners.insert(corners.end(), {a, a, b});
    const Vec grid{std::round(a[0] * 8) / 8, std::round(a[1] * 8) / 8, std::round(a[2] * 8) / 8};
    corners.insert(corners.end(), {grid, grid + Vec{0.25, 0.5, 0.125}, grid + Vec{0.5, 1, 0.25}});
  }
  kit.loose(corners);
  kit.place(kit.structure());
  return {"degenerate", kit.scene};
}

/// The same triangle many times over, and different triangles of one plane over each other.
inline AdversarialScene stacked(std::uint64_t seed) {
  SceneBuilder kit(seed);
  std::vector<Vec> corners;
  for (int i = 0; i < 12; ++i) {
    const std::vector<Vec> one = soup(kit, 1, 1);
    for (int copy = 0; copy < 20; ++copy) {
      const auto turn = static_cast<std::size_t>(copy);
      corners.insert(corners.end(), {one[turn % 3], one[(turn + 1) % 3], one[(turn + 2) % 3]});
    }
  }
  for (int i = 0; i < 120; ++i) {
    const double z = std::round(kit.unit() * 2) / 2;
    for (int corner = 0; corner < 3; ++corner) {
      Vec at = kit.point();
      at[2] = z;
      corners.push_back(at);
    }
  }
  kit.loose(corners);
  kit.place(kit.structure());
  return {"stacked", kit.scene};
}

/// Axis-aligned squares on whole coordinates: boxes without extent along an axis.
inline AdversarialScene squares(std::uint64_t seed) {
  SceneBuilder kit(seed);
  std::vector<Vec> corners;
  for (int i = 0; i < 150; ++i) {
    const std::size_t axis = kit.random.below(3);
    Vec low{};
    for (double& x : low) {
      x = static_cast<double>(kit.random.below(9)) - 4;
    }
    Vec right = low;
    Vec up = low;
    right[(axis + 1) % 3] += 1;
    up[(axis + 2) % 3] += 1;
    Vec far = right;
    far[(axis + 2) % 3] += 1;
    corners.insert(corners.end(), {low, right, far, low, far, up});
  }
  kit.loose(corners);
  kit.place(kit.structure());
  return {"squares", kit.scene};
}

/// A tessellated sphere or cube around the origin whose triangles share their edges and vertices.
inline AdversarialScene closed_mesh(const std::string& name, bool sphere, double scale, const Vec& offset) {
  SceneBuilder kit(1);
  constexpr std::uint32_t kSide = 8;
  std::vector<Vec> vertices;
  std::vector<std::uint32_t> indices;
  const auto vertex = [&](Vec at) {
    if (sphere) {
      at = at * (1 / std::sqrt(at[0] * at[0] + at[1] * at[1] + at[2] * at[2]));
    }
    at = at * scale + offset;
    for (std::uint32_t i = 0; i < vertices.size(); ++i) {
      if (vertices[i] == at) {
        return i;
      }
    }
    vertices.push_back(at);
    return static_cast<std::uint32_t>(vertices.size()) - 1;
  };
  for (std::size_t face = 0; face < 6; ++face) {
    const auto corner = [&](std::uint32_t u, std::uint32_t v) {
      Vec at{};
      at[face % 3] = face < 3 ? -1 : 1;
      at[(face + 1) % 3] = u * 2.0 / kSide - 1;
      at[(face + 2) % 3] = v * 2.0 / kSide - 1;
      return vertex(at);
    };
    for (std::uint32_t u = 0; u < kSide; ++u) {
      for (std::uint32_t v = 0; v < kSide; ++v) {
        const std::uint32_t a = corner(u, v);
        const std::uint32_t b = corner(u + 1, v);
        const std::uint32_t c = corner(u + 1, v + 1);
        const std::uint32_t d = corner(u, v + 1);
        indices.insert(indices.end(), {a, b, c, a, c, d});
      }
    }
  }
  kit.mesh(vertices, indices);
  kit.place(kit.structure());
  return {name, kit.scene, true, true};
}

inline Matrix random_transform(SceneBuilder& kit, std::uint32_t kind) {
  Matrix m{};
  const auto at = [&](std::size_t row, std::size_t column) -> float& { return m.at(row * 4 + column); };
  const double half = 3 * kit.unit();  // tangent of half the angle
  const auto c = static_cast<float>((1 - half * half) / (1 + half * half));
  const auto s = static_cast<float>(2 * half / (1 + half * half));
  at(0, 0) = c, at(0, 2) = s, at(1, 1) = 1, at(2, 0) = -s, at(2, 2) = c;
  switch (kind) {
    case 0:  // turned
      break;
    case 1:  // sheared, not uniform
      at(0, 1) = 0.7F, at(1, 2) = -1.3F, at(1, 1) = 0.2F, at(0, 0) *= 3;
      break;
    case 2:  // mirrored
      for (std::size_t column = 0; column < 3; ++column) {
        at(0, column) = -at(0, column);
      }
      break;
    case 3: {  // scaled, up to a million
      const auto scale = static_cast<float>(kit.size(-3, 3));
      for (std::size_t i = 0; i < 3; ++i) {
        for (std::size_t j = 0; j < 3; ++j) {
          at(i, j) *= scale;
        }
      }
      break;
    }
    case 4:  // nearly flat
      for (std::size_t column = 0; column < 3; ++column) {
        at(1, column) *= 1e-5F;
      }
      break;
    default:  // any
      for (std::size_t i = 0; i < 3; ++i) {
        for (std::size_t j = 0; j < 3; ++j) {
          at(i, j) = kit.random.unit();
        }
      }
  }
  for (std::size_t row = 0; row < 3; ++row) {
    at(row, 3) = kit.random.unit() * 2;
  }
  return m;
}

inline AdversarialScene instances(const std::string& name, std::uint64_t seed, std::uint32_t kinds, bool boxes) {
  SceneBuilder kit(seed);
  for (int blas = 0; blas < 3; ++blas) {
    kit.loose(soup(kit, 30, 1), blas != 1);
    if (boxes) {
      std::vector<float> rows;
      for (int i = 0; i < 20; ++i) {
        const Vec low = kit.point();
        for (const double x : low) {
          rows.push_back(static_cast<float>(x));
        }
        for (const double x : low) {
          rows.push_back(static_cast<float>(x) + (kit.random.one_in(4) ? 0 : 0.2F * std::abs(kit.random.unit())));
        }
      }
      kit.boxes(rows, blas == 0);
    }
    kit.structure();
  }
  for (std::uint32_t i = 0; i < 30; ++i) {
    kit.place(kit.random.below(3), i == 0 ? trace::Instance{}.transform : random_transform(kit, i % kinds),
              static_cast<std::uint8_t>(kit.random.one_in(3) ? 2U : 0U));
  }
  return {name, kit.scene};
}

/// Far from the origin by a million of its own sizes.
inline AdversarialScene far_instances(std::uint64_t seed) {
  SceneBuilder kit(seed);
  kit.loose(soup(kit, 20, 1e-2));
  const std::uint32_t blas = kit.structure();
  for (int i = 0; i < 20; ++i) {
    Matrix m = trace::Instance{}.transform;
    m[3] = 1e4F + kit.random.unit();
    m[7] = 1e4F + kit.random.unit();
    m[11] = -1e4F + kit.random.unit();
    kit.place(blas, m);
  }
  return {"far instances", kit.scene, true, false, true};
}

/// Boxes with volume, flat, thin as a line, and points; nested and touching each other.
inline AdversarialScene boxes(std::uint64_t seed) {
  SceneBuilder kit(seed);
  std::vector<float> rows;
  for (int i = 0; i < 400; ++i) {
    std::array<float, 3> low{};
    std::array<float, 3> high{};
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const bool whole = i % 2 == 0;
      low[axis] = whole ? static_cast<float>(kit.random.below(9)) - 4 : 4 * kit.random.unit();
      high[axis] = low[axis] + (kit.random.one_in(4) ? 0 : whole ? 1 : 0.5F * std::abs(kit.random.unit()));
    }
    rows.insert(rows.end(), low.begin(), low.end());
    rows.insert(rows.end(), high.begin(), high.end());
  }
  kit.boxes(rows);
  kit.boxes({-1, -1, -1, 1, 1, 1, -2, -2, -2, 2, 2, 2}, false);
  kit.place(kit.structure());
  return {"boxes", kit.scene};
}

/// Inactive primitives and instances of every kind beside active ones.
inline AdversarialScene inactive(std::uint64_t seed) {
  SceneBuilder kit(seed);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinite = std::numeric_limits<double>::infinity();
  std::vector<Vec> corners = soup(kit, 60, 1);
  corners.insert(corners.end(), {{nan, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 0}, {infinite, 0, 0}, {0, 1, 0}});
  for (const Vec& corner : soup(kit, 60, 1)) {
    corners.push_back(corner);
  }
  kit.loose(corners);
  kit.boxes({0, 0, 0, 0.5F, 0.5F, 0.5F, 0.5F, 0,  0,     0,     1,    1, static_cast<float>(nan),
             0, 0, 1, 1,    1,    -1,   -1,   -1, -0.5F, -0.5F, -0.5F});
  kit.place(kit.structure());
  kit.loose({{nan, 0, 0}, {1, 0, 0}, {0, 1, 0}});
  kit.place(kit.structure());  // nothing active inside
  kit.place(0, {1, 0, 0, 5, 0, 0, 0, 0, 0, 0, 1, 0});
  kit.place(0, {1, 0, 0, static_cast<float>(nan), 0, 1, 0, 0, 0, 0, 1, 0});
  kit.place(0);
  kit.scene.instances.back().mask = 0;
  return {"inactive", kit.scene};
}

}  // namespace adversarial

[[nodiscard]] inline std::vector<AdversarialScene> adversarial_scenes(std::uint64_t seed) {
  using namespace adversarial;
  std::vector<AdversarialScene> result;
  result.push_back(soup_scene("soup", seed, 1, true));
  result.push_back(slivers(seed + 1));
  result.push_back(soup_scene("huge", seed + 2, 1e9, true));
  result.push_back(soup_scene("tiny", seed + 3, 1e-9, true));
  result.push_back(soup_scene("vast", seed + 4, 1e18, false));
  result.push_back(soup_scene("minute", seed + 5, 1e-18, false));
  result.push_back(mixed_scales(seed + 6));
  result.push_back(degenerate(seed + 7));
  result.push_back(stacked(seed + 8));
  result.push_back(squares(seed + 9));
  result.push_back(closed_mesh("closed sphere", true, 1, {}));
  result.push_back(closed_mesh("closed cube", false, 1, {}));
  result.push_back(closed_mesh("closed off-centre", true, 3, {1.1, -0.7, 0.3}));
  result.push_back(instances("instances", seed + 10, 6, false));
  result.push_back(instances("turned instances", seed + 11, 1, true));
  result.push_back(instances("nearly singular", seed + 12, 5, true));
  result.push_back(far_instances(seed + 13));
  result.push_back(boxes(seed + 14));
  result.push_back(inactive(seed + 15));
  return result;
}

}  // namespace rayreplay::test
