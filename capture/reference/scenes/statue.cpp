// A weathered boulder like a scanned statue: one closed mesh of many small triangles of varying density. The noise uses
// additions, multiplications and square roots alone, so that every machine makes the same mesh.
#include <array>
#include <cmath>
#include <memory>

#include "base/split_mix.hpp"
#include "capture/reference/scene_model.hpp"
#include "capture/reference/scenes/scene_builder.hpp"

namespace rayreplay::reference {
namespace {

Vec3d unit(const Vec3d& a) {
  return a * (1 / std::sqrt(dot(a, a)));
}

/// Gradient noise on a lattice of integers (Perlin 1985), about −1 … 1, 0 at the lattice's points.
class Noise {
 public:
  explicit Noise(std::uint64_t seed) : seed_(seed) {}

  [[nodiscard]] double at(const Vec3d& p) const {
    const Vec3d cell{std::floor(p.x()), std::floor(p.y()), std::floor(p.z())};
    const Vec3d in = p - cell;
    double sum = 0;
    for (int corner = 0; corner < 8; ++corner) {
      const Vec3d step{static_cast<double>(corner & 1), static_cast<double>(corner >> 1 & 1),
                       static_cast<double>(corner >> 2)};
      const Vec3d gradient = gradient_at(cell + step);
      const Vec3d to = in - step;
      sum += dot(gradient, to) * weight(in.x(), step.x()) * weight(in.y(), step.y()) * weight(in.z(), step.z());
    }
    return sum * 1.5;
  }

 private:
  static double weight(double in, double step) {
    const double fade = in * in * in * (in * (in * 6 - 15) + 10);
    return step == 0 ? 1 - fade : fade;
  }

  [[nodiscard]] Vec3d gradient_at(const Vec3d& lattice) const {
    const auto part = [](double value) { return static_cast<std::uint64_t>(static_cast<std::int64_t>(value)); };
    const std::uint64_t key = part(lattice.x()) * 0x9E37'79B9'7F4A'7C15U ^ part(lattice.y()) * 0xC2B2'AE3D'27D4'EB4FU ^
                              part(lattice.z()) * 0x1656'67B1'9E37'79F9U;
    const std::uint64_t bits = split_mix_finish(seed_ ^ key);
    const auto side = [&](unsigned shift) { return static_cast<double>(bits >> shift & 0x1FFFFF) / 1048576.0 - 1.0; };
    return {side(0), side(21), side(42)};
  }

  std::uint64_t seed_;
};

/// The surface over the unit sphere.
class Surface {
 public:
  explicit Surface(std::uint64_t seed) : noise_(seed) {}

  [[nodiscard]] Vec3 at(const Vec3d& direction) const {
    // Vertices are drawn together in some regions and apart in others.
    const Vec3d d = unit(direction + vector_noise(direction * 1.6) * 0.3);
    double radius = 1 + 0.3 * noise_.at(d * 1.4 + Vec3d{31, 0, 0}) + 0.16 * noise_.at(d * 3.1 + Vec3d{57, 0, 0});
    const double crease = 1 - std::abs(noise_.at(d * 5.3 + Vec3d{91, 0, 0}));
    radius += 0.1 * crease * crease;
    radius += 0.035 * noise_.at(d * 13 + Vec3d{127, 0, 0}) + 0.01 * noise_.at(d * 41 + Vec3d{163, 0, 0}) +
              0.003 * noise_.at(d * 120 + Vec3d{211, 0, 0});
    // Sideways, so that there are overhangs.
    const Vec3d p = d * radius + vector_noise(d * 2.3 + Vec3d{251, 0, 0}) * 0.22;
    return {static_cast<float>(p.x()), static_cast<float>(p.y() * 1.2), static_cast<float>(p.z())};
  }

 private:
  [[nodiscard]] Vec3d vector_noise(const Vec3d& p) const {
    return {noise_.at(p + Vec3d{0, 301, 0}), noise_.at(p + Vec3d{0, 401, 0}), noise_.at(p + Vec3d{0, 503, 0})};
  }

  Noise noise_;
};

/// An octahedron, each side divided into 4^level triangles, displaced onto the surface. A point with whole coordinates,
/// |x| + |y| + |z| = 2^level, is one vertex. Triangles are listed quarter by quarter, so that neighbours in the list
/// are close in space; vertices in order of first use.
class Mesher {
 public:
  Mesher(std::uint32_t level, std::uint64_t seed)
      : side_(1 << level), surface_(seed), places_(2 * width() * width(), kNone) {}

  TriangleMesh make(std::uint32_t material) {
    material_ = material;
    const std::array<int, 2> signs = {1, -1};
    for (const int z : signs) {
      for (const int y : signs) {
        for (const int x : signs) {
          const Corner a{x * side_, 0, 0}, b{0, y * side_, 0}, c{0, 0, z * side_};
          x* y* z > 0 ? split(a, b, c) : split(a, c, b);
        }
      }
    }
    return std::move(mesh_);
  }

 private:
  static constexpr std::uint32_t kNone = 0xFFFF'FFFF;

  using Corner = Eigen::Vector3i;

  [[nodiscard]] std::size_t width() const {
    return 2 * static_cast<std::size_t>(side_) + 1;
  }

  static Corner middle(const Corner& a, const Corner& b) {
    return (a + b) / 2;
  }

  void split(const Corner& a, const Corner& b, const Corner& c) {
    if ((a - b).lpNorm<1>() <= 2) {  // neighbours on the lattice
      const std::uint32_t first = vertex(a), second = vertex(b), third = vertex(c);
      mesh_.add_triangle(first, second, third, material_);
      return;
    }
    const Corner ab = middle(a, b), bc = middle(b, c), ca = middle(c, a);
    split(a, ab, ca);
    split(ab, b, bc);
    split(bc, ca, ab);
    split(ca, bc, c);
  }

  std::uint32_t vertex(const Corner& corner) {
    const std::size_t column = static_cast<std::size_t>(corner.x() + side_);
    const std::size_t row = static_cast<std::size_t>(corner.y() + side_) + (corner.z() < 0 ? width() : 0);
    std::uint32_t& place = places_[row * width() + column];
    if (place == kNone) {
      place = static_cast<std::uint32_t>(mesh_.positions.size());
      mesh_.positions.push_back(surface_.at(unit(corner.cast<double>())));
    }
    return place;
  }

  int side_;
  Surface surface_;
  std::vector<std::uint32_t> places_;  ///< by coordinates, the upper half (z ≥ 0) first
  std::uint32_t material_ = 0;
  TriangleMesh mesh_;
};

class Statue final : public SceneModel {
 public:
  Statue(std::uint32_t level, std::uint64_t seed) : level_(level), seed_(seed) {}

  [[nodiscard]] RenderScene make() const override {
    SceneBuilder builder("statue");
    const auto stone = builder.add_material({.name = "stone", .color = {0.62F, 0.58F, 0.5F}});
    builder.place(builder.add_object("statue", Mesher(level_, seed_).make(stone)));
    return builder.finish({.from = {0.6F, 0.5F, 4.2F},
                           .at = {0, 0, 0},
                           .up = {0, 1, 0},
                           .vertical_fov_degrees = 38,
                           .aperture = 0,
                           .focus_distance = 4},
                          {});
  }

 private:
  std::uint32_t level_;
  std::uint64_t seed_;
};

const Registry<SceneModel>::Registrar kStatue(
    {"",
     "statue",
     "A weathered stone in the open, as a scanner sees it: one closed mesh of 524,288 small triangles",
     "One object, one geometry: an octahedron whose sides are cut into 4^level triangles each, 8 · 4^level in all, "
     "pressed onto a surface of noise of several octaves with creases and overhangs. Vertices lie closer together in "
     "some regions than in others; triangles that are close in the list are close in space. Fills a large part of a "
     "square picture.",
     "rayreplay",
     {{"level", std::int64_t{8}, "", "How often the octahedron's sides are cut into four.", 0, 11, {}},
      {"seed", std::int64_t{1}, "", "Of the noise.", 0, 4294967295.0, {}}}},
    [](const Parameters& p) {
      return std::make_unique<Statue>(static_cast<std::uint32_t>(p.get_int("level")),
                                      static_cast<std::uint64_t>(p.get_int("seed")));
    });

}  // namespace
}  // namespace rayreplay::reference
