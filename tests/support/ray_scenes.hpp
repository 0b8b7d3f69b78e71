// Random two-level scenes, rays and shaders for tests of traversals, and the closest hit without any tree.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <tuple>
#include <vector>

#include "bvh/geometry/box_ray.hpp"
#include "bvh/scene.hpp"
#include "capture/trace/trace.hpp"
#include "tests/support/random_trace.hpp"
#include "traversal/kernels/ray_space.hpp"
#include "traversal/traversal.hpp"

namespace rayreplay::test {

/// Triangles strewn over the unit cube, some of them thin, tiny or without area, with a vertex of their own each.
[[nodiscard]] inline trace::Geometry random_soup(Random& random, std::uint32_t triangles) {
  trace::Geometry mesh;
  for (std::uint32_t i = 0; i < triangles; ++i) {
    const float size = random.one_in(4) ? 0.01F : 0.3F;
    const std::array at{random.unit(), random.unit(), random.unit()};
    for (std::uint32_t corner = 0; corner < 3; ++corner) {
      for (std::size_t axis = 0; axis < 3; ++axis) {
        mesh.vertices.push_back(at[axis] + size * random.unit());
      }
      mesh.indices.push_back(i * 3 + corner);
    }
    if (random.one_in(20)) {
      mesh.indices.back() = i * 3;  // no area
    }
  }
  return mesh;
}

/// A flat square of n×n cells over [−1, 1]² at height 0: shared edges, coplanar, and every cell there twice: ties.
[[nodiscard]] inline trace::Geometry doubled_grid(std::uint32_t n) {
  trace::Geometry mesh;
  for (std::uint32_t row = 0; row <= n; ++row) {
    for (std::uint32_t column = 0; column <= n; ++column) {
      const auto place = [&](std::uint32_t i) { return 2 * static_cast<float>(i) / static_cast<float>(n) - 1; };
      mesh.vertices.insert(mesh.vertices.end(), {place(column), 0.0F, place(row)});
    }
  }
  for (std::uint32_t copy = 0; copy < 2; ++copy) {
    for (std::uint32_t row = 0; row < n; ++row) {
      for (std::uint32_t column = 0; column < n; ++column) {
        const std::uint32_t at = row * (n + 1) + column;
        mesh.indices.insert(mesh.indices.end(), {at, at + 1, at + n + 1, at + 1, at + n + 2, at + n + 1});
      }
    }
  }
  return mesh;
}

[[nodiscard]] inline trace::Geometry random_boxes(Random& random, std::uint32_t boxes) {
  trace::Geometry geometry;
  geometry.type = trace::GeometryType::Boxes;
  for (std::uint32_t i = 0; i < boxes; ++i) {
    std::array<float, 3> centre{random.unit(), random.unit(), random.unit()};
    const float radius = random.one_in(10) ? 0.0F : 0.15F * (1.1F + random.unit());
    for (const float side : {-radius, radius}) {
      for (std::size_t axis = 0; axis < 3; ++axis) {
        geometry.boxes.push_back(centre[axis] + side);
      }
    }
  }
  return geometry;
}

/// Identity, shift, rotation with scale, shear, mirror, or flattened hard along an axis.
[[nodiscard]] inline std::array<float, 12> random_transform(Random& random) {
  std::array<float, 12> m{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};
  const std::uint32_t kind = random.below(6);
  if (kind == 0) {
    return m;
  }
  for (std::size_t row = 0; row < 3; ++row) {
    m[row * 4 + 3] = 2 * random.unit();
  }
  if (kind == 2) {
    const double angle = 3 * static_cast<double>(random.unit());
    const double scale = std::exp2(4 * static_cast<double>(random.unit()));
    m[0] = m[5] = static_cast<float>(scale * std::cos(angle));
    m[4] = static_cast<float>(scale * std::sin(angle));
    m[1] = -m[4];
    m[10] = static_cast<float>(scale);
  } else if (kind == 3) {
    for (const std::size_t i : {0U, 1U, 2U, 4U, 5U, 6U, 8U, 9U, 10U}) {
      m[i] = random.unit();
    }
  } else if (kind == 4) {
    m[random.below(3) * 5] = -1;
  } else if (kind == 5) {
    m[random.below(3) * 5] = 0x1p-10F;
  }
  return m;
}

struct RandomSceneOptions {
  std::uint64_t seed = 1;
  std::uint32_t instances = 12;
  std::uint32_t primitives = 120;  ///< of a geometry, about
  bool flags = true;               ///< instance flags and masks, geometries that are not opaque
};

/// Bottom-level structures of a soup, a grid, boxes, and all three of them; one inactive triangle and one inactive box.
[[nodiscard]] inline trace::Scene random_scene(const RandomSceneOptions& options) {
  Random random(options.seed);
  trace::Scene scene;
  const auto add = [&](trace::Geometry geometry) {
    geometry.opaque = !options.flags || random.one_in(2);
    scene.geometries.push_back(std::move(geometry));
  };
  add(random_soup(random, options.primitives));
  add(doubled_grid(5));
  add(random_boxes(random, options.primitives));
  add(random_soup(random, options.primitives / 2));
  add(random_boxes(random, options.primitives / 4));
  add(doubled_grid(3));
  scene.geometries[3].vertices[0] = std::numeric_limits<float>::quiet_NaN();
  std::swap(scene.geometries[4].boxes[0], scene.geometries[4].boxes[3]);
  scene.blases = {{0, 1}, {1, 1}, {2, 1}, {3, 3}};
  for (std::uint32_t i = 0; i < options.instances; ++i) {
    trace::Instance instance;
    instance.transform = random_transform(random);
    instance.blas = random.below(4);
    if (options.flags) {
      instance.mask = static_cast<std::uint8_t>(random.one_in(3) ? random.below(256) : 0xFF);
      instance.flags = static_cast<std::uint8_t>(random.one_in(2) ? random.below(16) : 0);
      if ((instance.flags & 12U) == 12U) {
        instance.flags = 0;  // both opacities at once are not allowed
      }
    }
    scene.instances.push_back(instance);
  }
  return scene;
}

/// From all around and from inside, some along an axis, some aimed exactly at a vertex of the doubled grid.
[[nodiscard]] inline std::vector<traversal::Ray> random_rays(std::uint64_t seed, std::size_t count, bool flags) {
  Random random(seed);
  std::vector<traversal::Ray> rays;
  while (rays.size() < count) {
    traversal::Ray ray;
    const float reach = random.one_in(2) ? 4.0F : 1.0F;
    ray.origin = {reach * random.unit(), reach * random.unit(), reach * random.unit()};
    ray.direction = {random.unit(), random.unit(), random.unit()};
    if (random.one_in(6)) {
      ray.direction = {0, 0, 0};
      ray.direction[random.below(3)] = random.one_in(2) ? 1.0F : -1.0F;
    } else if (random.one_in(5)) {
      const std::array target{0.4F * static_cast<float>(random.below(6)) - 1, 0.0F,
                              0.4F * static_cast<float>(random.below(6)) - 1};
      for (std::size_t axis = 0; axis < 3; ++axis) {
        ray.direction[axis] = target[axis] - ray.origin[axis];
      }
    }
    if (random.one_in(4)) {
      ray.t_min = 0.5F * random.unit() + 0.3F;  // a few below 0
    }
    if (random.one_in(4)) {
      ray.t_max = ray.t_min + 2 * (random.unit() + 1);
    }
    if (flags) {
      constexpr std::uint16_t kFlags[] = {0, 0, 0, 1, 2, 4, 0x10, 0x20, 0x40, 0x80, 0x100, 0x200, 0x14, 0x24, 6, 5};
      ray.flags = kFlags[random.below(std::size(kFlags))];
      ray.cull_mask = static_cast<std::uint8_t>(random.one_in(3) ? random.below(256) : 0xFF);
    }
    rays.push_back(ray);
  }
  return rays;
}

/// Boxes hold the sphere that fits in; any-hit ignores a fifth of the candidates, whatever the ray.
class SphereShaders final : public traversal::Shaders {
 public:
  SphereShaders(const bvh::PreparedScene& scene, const std::vector<traversal::Ray>& rays)
      : scene_(&scene), rays_(&rays) {}

  [[nodiscard]] traversal::Report intersect(std::size_t ray, const traversal::Candidate& candidate,
                                            float t_max) const override {
    const traversal::RaySpace world = traversal::world_space((*rays_)[ray]);
    const bvh::SceneInstance& instance = scene_->instances[candidate.instance];
    const traversal::PreciseRay precise = traversal::object_space(world, instance.to_object).precise;
    const float* box = &scene_->geometry(instance.blas, candidate.geometry).boxes[candidate.primitive * std::size_t{6}];
    double a = 0, half_b = 0, c = 0;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const double low = static_cast<double>(box[axis]);
      const double high = static_cast<double>(box[axis + 3]);
      // A little smaller than the box: what its surface reports is never before the box by rounding.
      const double radius = (high - low) * 0.499999;
      const double from = precise.origin[axis] - (low + high) / 2;
      a += precise.direction[axis] * precise.direction[axis];
      half_b += precise.direction[axis] * from;
      c += from * from;
      c -= axis == 0 ? radius * radius : 0;
    }
    const double discriminant = half_b * half_b - a * c;
    if (!(discriminant >= 0)) {
      return {};
    }
    for (const double side : {-1.0, 1.0}) {
      const auto t = static_cast<float>((-half_b + side * std::sqrt(discriminant)) / a);
      if (t >= (*rays_)[ray].t_min && t <= t_max) {
        return {true, t, static_cast<std::uint8_t>(side > 0)};
      }
    }
    return {};
  }

  [[nodiscard]] bool accept(std::size_t /*ray*/, const traversal::Candidate& candidate, float /*t*/,
                            std::uint8_t /*hit_kind*/) const override {
    return (candidate.instance * 7 + candidate.geometry * 3 + candidate.primitive) % 5 != 0;
  }

 private:
  const bvh::PreparedScene* scene_;
  const std::vector<traversal::Ray>* rays_;
};

/// The closest hit without a tree and without a limit that shrinks: every primitive of every instance is tested, and
/// the best of all that count is the answer.
[[nodiscard]] inline traversal::Hit closest_of_all(const bvh::PreparedScene& scene, std::size_t row,
                                                   const traversal::Ray& ray, const traversal::Shaders* shaders) {
  using namespace traversal;
  Hit best;
  const RaySpace world = world_space(ray);
  const float t_max = std::min(ray.t_max, bvh::kFarthest);
  const auto ray_has = [&](unsigned flag) { return (ray.flags & flag) != 0; };
  for (std::uint32_t i = 0; i < scene.instances.size(); ++i) {
    const bvh::SceneInstance& instance = scene.instances[i];
    const trace::Instance& source = scene.source(i);
    const bvh::BoxEntry into_instance = bvh::meet(instance.world, world.box, t_max);
    if (!instance.active || (source.mask & ray.cull_mask) == 0 || !into_instance.met) {
      continue;
    }
    const RaySpace space = instance.identity ? world : object_space(world, instance.to_object);
    const bvh::SceneBlas& blas = scene.blases[instance.blas];
    for (std::uint32_t number = 0; number < blas.primitives(); ++number) {
      const bvh::Box box = scene.primitive_box(instance.blas, number);
      if (box.empty()) {
        continue;
      }
      const bvh::BoxEntry into_box = bvh::meet(box, space.box, t_max);
      const auto [index, primitive] = scene.locate(instance.blas, number);
      const trace::Geometry& geometry = scene.geometry(instance.blas, index);
      const bool is_box = geometry.type == trace::GeometryType::Boxes;
      bool opaque = geometry.opaque;
      opaque = (source.flags & 4U) != 0 ? true : (source.flags & 8U) != 0 ? false : opaque;
      opaque = ray_has(1) ? true : ray_has(2) ? false : opaque;
      if (!into_box.met || ray_has(opaque ? 0x40 : 0x80) || ray_has(is_box ? 0x200 : 0x100)) {
        continue;
      }
      Hit hit{.t = 0, .instance = i, .geometry = index, .primitive = primitive};
      const Candidate candidate{i, index, primitive};
      if (is_box) {
        const Report report = shaders == nullptr ? Report{} : shaders->intersect(row, candidate, t_max);
        if (!report.found) {
          continue;
        }
        hit.t = report.t;
        hit.hit_kind = report.hit_kind;
      } else {
        const std::uint32_t* corner = &geometry.indices[std::size_t{primitive} * 3];
        const TrianglePoint point = intersect_triangle(space.precise, &geometry.vertices[std::size_t{corner[0]} * 3],
                                                       &geometry.vertices[std::size_t{corner[1]} * 3],
                                                       &geometry.vertices[std::size_t{corner[2]} * 3]);
        const bool front = point.front != ((source.flags & 2U) != 0);
        if (!point.pierced || ((source.flags & 1U) == 0 && ray_has(front ? 0x20 : 0x10))) {
          continue;
        }
        hit.t = static_cast<float>(point.t);
        if (hit.t < ray.t_min) {  // perhaps by rounding alone: not before the box, wherever the interval starts
          bvh::BoxRay line = space.box;
          line.t_min = -std::numeric_limits<float>::infinity();
          hit.t = std::max(hit.t, bvh::meet(box, line, t_max).entry);
        }
        if (!(hit.t >= ray.t_min && hit.t <= t_max)) {
          continue;
        }
        hit.t = std::max(hit.t, std::max(into_box.entry, into_instance.entry));
        hit.u = std::clamp(static_cast<float>(point.u), 0.0F, 1.0F);
        hit.v = std::clamp(static_cast<float>(point.v), 0.0F, 1.0F - hit.u);
        hit.hit_kind = front ? trace::kHitKindFrontFacing : trace::kHitKindBackFacing;
      }
      const auto key = [](const Hit& h) { return std::tuple(h.t, h.instance, h.geometry, h.primitive); };
      const bool ignored = !opaque && shaders != nullptr && !shaders->accept(row, candidate, hit.t, hit.hit_kind);
      if (!ignored && hit.t <= t_max && (!best.found() || key(hit) < key(best))) {
        best = hit;
      }
    }
  }
  return best;
}

}  // namespace rayreplay::test
