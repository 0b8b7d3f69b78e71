#include "bvh/items.hpp"

#include <algorithm>
#include <cstddef>

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include "bvh/geometry/polygon.hpp"
#include "bvh/geometry/primitive_box.hpp"

namespace rayreplay::bvh {
namespace {

constexpr std::size_t kGrain = 8192;

Polygon::Point corner(const trace::Geometry& geometry, std::size_t primitive, std::size_t which) {
  const float* at = &geometry.vertices[std::size_t{geometry.indices[primitive * 3 + which]} * 3];
  return Eigen::Map<const Vec3>(at).cast<double>();
}

void split_triangle(const trace::Geometry& geometry, std::size_t primitive, const Box& box, unsigned axis,
                    float position, Box& below, Box& above) {
  Polygon part(corner(geometry, primitive, 0), corner(geometry, primitive, 1), corner(geometry, primitive, 2));
  // Builders cut a part repeatedly along one axis; after that axis the others rarely cut anything.
  part.clip(box, axis);
  Box lower;
  Box upper;
  part.split_bounds(axis, static_cast<double>(position), lower, upper);
  below = intersection(below, lower);
  above = intersection(above, upper);
}

/// As Box::extend, but an empty part may have finite planes.
void unite(Box& box, const Box& other) {
  if (box.empty()) {
    box = other;
  } else if (!other.empty()) {
    box.extend(other);
  }
}

}  // namespace

std::vector<BuildItem> instance_items(const PreparedScene& scene) {
  std::vector<BuildItem> items;
  for (std::size_t i = 0; i < scene.instances.size(); ++i) {
    if (scene.instances[i].active) {
      items.push_back({scene.instances[i].world, static_cast<std::uint32_t>(i)});
    }
  }
  return items;
}

std::vector<BuildItem> primitive_items(const PreparedScene& scene, std::uint32_t blas, const TrianglePairs* pairs) {
  const SceneBlas& structure = scene.blases[blas];
  std::vector<BuildItem> items(structure.primitives());
  for (std::uint32_t g = 0; g < structure.geometry_count; ++g) {
    const trace::Geometry& geometry = scene.geometry(blas, g);
    const std::uint32_t first = structure.first_primitive[g];
    tbb::parallel_for(tbb::blocked_range<std::size_t>(0, geometry.primitives(), kGrain),
                      [&](const tbb::blocked_range<std::size_t>& range) {
                        for (std::size_t i = range.begin(); i != range.end(); ++i) {
                          items[first + i] = {box_of(geometry, i).box, static_cast<std::uint32_t>(first + i)};
                        }
                      });
  }
  if (pairs != nullptr) {
    for (std::uint32_t number = 0; number < items.size(); ++number) {
      if (pairs->has_partner(number)) {
        Box& second = items[pairs->partner(number)].box;
        items[number].box.extend(second);
        second = {};
      }
    }
  }
  if (pairs != nullptr || structure.active < items.size()) {
    std::erase_if(items, [](const BuildItem& item) { return item.box.empty(); });
  }
  return items;
}

SplitFunction splitter(const PreparedScene& scene, std::uint32_t blas, const TrianglePairs* pairs) {
  return [&scene, blas, pairs](std::uint32_t reference, const Box& box, unsigned axis, float position, Box& below,
                               Box& above) {
    cut(box, axis, position, below, above);
    const auto [index, primitive] = scene.locate(blas, reference);
    const trace::Geometry& geometry = scene.geometry(blas, index);
    if (geometry.type != trace::GeometryType::Triangles) {
      return;
    }
    Box second_below = below;
    Box second_above = above;
    split_triangle(geometry, primitive, box, axis, position, below, above);
    if (pairs != nullptr && pairs->has_partner(reference)) {
      const std::size_t second = primitive + std::size_t{pairs->distance[reference]};
      split_triangle(geometry, second, box, axis, position, second_below, second_above);
      unite(below, second_below);
      unite(above, second_above);
    }
  };
}

}  // namespace rayreplay::bvh
