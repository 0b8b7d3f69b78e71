// Adversarial rays through a scene: axis-parallel, starting on faces, edges and vertices, through shared edges, clipped
// exactly at hits, grazing, from far away, with directions of denormal and huge length.
//
// The same seed gives the same rays on every machine. Every kind appears once in kRayKinds rays.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "tests/support/adversarial.hpp"
#include "traversal/ray.hpp"

namespace rayreplay::test {

inline constexpr std::uint32_t kRayKinds = 16;

class AdversarialRays {
 public:
  AdversarialRays(const trace::Scene& scene, std::uint64_t seed) : scene_(&scene), random_(seed) {
    for (const trace::Instance& instance : scene.instances) {
      const trace::Blas& blas = scene.blases[instance.blas];
      for (std::uint32_t g = 0; g < blas.geometry_count; ++g) {
        const trace::Geometry& geometry = scene.geometries[blas.first_geometry + g];
        for (std::uint32_t p = 0; p < geometry.primitives(); ++p) {
          if (finite(instance, geometry, p)) {
            objects_.push_back({&instance, &geometry, p});
          }
        }
      }
    }
    for (std::size_t i = 0; i < std::min<std::size_t>(objects_.size(), 64); ++i) {
      for (const double x : corner(any(), 0)) {
        extent_ = std::max(extent_, std::abs(x));
      }
    }
  }

  [[nodiscard]] traversal::Ray ray(std::uint32_t kind) {
    using adversarial::operator+;
    using adversarial::operator*;
    const Object object = any();
    const Vec a = corner(object, 0);
    const Vec b = corner(object, 1);
    const Vec c = corner(object, 2);
    const double w = weight();
    const Vec on_edge = a * w + b * (1 - w);
    const Vec inside = a * (w * 0.5) + b * (0.5 - w * 0.5) + c * 0.5;
    const Vec outside = point(2 * extent_);
    switch (kind % kRayKinds) {
      case 0:
        return make(outside, point(1));
      case 1: {  // parallel to an axis, through a corner's coordinates, with zeros of either sign
        Vec origin = random_.one_in(2) ? a : inside;
        const std::size_t axis = random_.below(3);
        const double sign = random_.one_in(2) ? 1 : -1;
        origin[axis] = -sign * extent_ * 3;
        Vec direction{zero(), zero(), zero()};
        direction[axis] = sign;
        return make(origin, direction);
      }
      case 2:  // parallel to a plane of two axes
      {
        Vec direction = point(1);
        direction[random_.below(3)] = zero();
        return make(inside + direction * (-3 * extent_), direction);
      }
      case 3:
        return through(outside, on_edge);
      case 4:
        return through(outside, a);
      case 5:
        return through(outside, inside);
      case 6:  // starts on a corner, an edge or inside
        return make(random_.one_in(3) ? a : random_.one_in(2) ? on_edge : inside, point(1));
      case 7:  // along an edge, or nearly
        return make(a + (b + a * -1) * -2 + point(extent_ * 1e-7 * random_.below(2)), b + a * -1);
      case 8:  // in the triangle's plane, or nearly
        return make(inside + (c + on_edge * -1) * -3, c + on_edge * -1 + point(extent_ * 1e-6 * random_.below(2)));
      case 9:
        return through(point(1) * (1e6 * extent_), inside);
      case 10: {  // t from target to target: the hit is at 1, just inside or outside the interval
        traversal::Ray result = through(outside, inside);
        const std::array<float, 3> ends{1, std::nextafter(1.0F, 0.0F), std::nextafter(1.0F, 2.0F)};
        (random_.one_in(2) ? result.t_max : result.t_min) = ends[random_.below(3)];
        return result;
      }
      case 11: {  // an interval that is short or a point
        traversal::Ray result = through(outside, inside);
        result.t_min = 0.5F + 0.5F * static_cast<float>(weight());
        result.t_max = random_.one_in(2) ? result.t_min : result.t_min + static_cast<float>(weight());
        return result;
      }
      case 12: {  // very short or very long directions
        traversal::Ray result = through(outside, random_.one_in(2) ? inside : on_edge);
        const float length = random_.one_in(2) ? 1e-30F : 1e12F;
        for (float& x : result.direction) {
          x *= length / static_cast<float>(extent_);
        }
        return result;
      }
      case 13: {  // one denormal component
        traversal::Ray result = through(outside, inside);
        result.direction[random_.below(3)] = 1e-41F * (random_.one_in(2) ? 1.0F : -1.0F);
        return result;
      }
      case 14:  // from the middle of the scene
        return make({0, 0, 0}, random_.one_in(2) ? on_edge : random_.one_in(2) ? a : point(1));
      default: {  // along diagonals of the axes
        const Vec direction{random_.one_in(2) ? 1.0 : -1.0, random_.one_in(2) ? 1.0 : -1.0,
                            random_.one_in(3) ? zero() : 1.0};
        return make((random_.one_in(2) ? a : inside) + direction * (-2 * extent_), direction);
      }
    }
  }

 private:
  struct Object {
    const trace::Instance* instance = nullptr;
    const trace::Geometry* geometry = nullptr;
    std::uint32_t primitive = 0;
  };

  static bool finite(const trace::Instance& instance, const trace::Geometry& geometry, std::uint32_t primitive) {
    bool good = std::ranges::all_of(instance.transform, [](float x) { return std::isfinite(x); });
    if (geometry.type == trace::GeometryType::Boxes) {
      for (std::size_t i = 0; i < 6; ++i) {
        good &= std::isfinite(geometry.boxes[primitive * std::size_t{6} + i]);
      }
      return good;
    }
    for (std::size_t i = 0; i < 9; ++i) {
      const std::size_t vertex = geometry.indices[primitive * std::size_t{3} + i / 3];
      good &= std::isfinite(geometry.vertices[vertex * 3 + i % 3]);
    }
    return good;
  }

  Object any() {
    return objects_.empty() ? Object{} : objects_[random_.below(objects_.size())];
  }
  double unit() {
    return static_cast<double>(random_.unit());
  }
  double weight() {
    return (unit() + 1) / 2;
  }
  double zero() {
    return random_.one_in(2) ? 0.0 : -0.0;
  }
  Vec point(double scale) {
    return {unit() * scale, unit() * scale, unit() * scale};
  }

  /// Corner of a triangle, or of a box, in the world.
  Vec corner(const Object& object, std::size_t number) {
    if (object.geometry == nullptr) {
      return point(1);
    }
    Vec at{};
    if (object.geometry->type == trace::GeometryType::Boxes) {
      const float* box = &object.geometry->boxes[std::size_t{object.primitive} * 6];
      for (std::size_t axis = 0; axis < 3; ++axis) {
        at[axis] = static_cast<double>(box[axis == number ? axis : axis + 3]);
      }
    } else {
      const std::size_t vertex = object.geometry->indices[std::size_t{object.primitive} * 3 + number];
      for (std::size_t axis = 0; axis < 3; ++axis) {
        at[axis] = static_cast<double>(object.geometry->vertices[vertex * 3 + axis]);
      }
    }
    Vec world{};
    for (std::size_t row = 0; row < 3; ++row) {
      const float* m = &object.instance->transform[row * 4];
      world[row] = static_cast<double>(m[0]) * at[0] + static_cast<double>(m[1]) * at[1] +
                   static_cast<double>(m[2]) * at[2] + static_cast<double>(m[3]);
    }
    return world;
  }

  traversal::Ray make(const Vec& origin, const Vec& direction) {
    traversal::Ray result;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      result.origin[axis] = static_cast<float>(origin[axis]);
      result.direction[axis] = static_cast<float>(direction[axis]);
    }
    return result;
  }
  traversal::Ray through(const Vec& origin, const Vec& target) {
    using adversarial::operator+;
    using adversarial::operator*;
    return make(origin, target + origin * -1);
  }

  const trace::Scene* scene_;
  Random random_;
  std::vector<Object> objects_;
  double extent_ = 1e-30;
};

[[nodiscard]] inline std::vector<traversal::Ray> adversarial_rays(const trace::Scene& scene, std::size_t count,
                                                                  std::uint64_t seed) {
  AdversarialRays source(scene, seed);
  std::vector<traversal::Ray> rays;
  rays.reserve(count);
  while (rays.size() < count) {
    rays.push_back(source.ray(static_cast<std::uint32_t>(rays.size())));
  }
  return rays;
}

}  // namespace rayreplay::test
