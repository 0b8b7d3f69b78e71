#include "bvh/layouts/quantised_6_leaves.hpp"

#include <algorithm>
#include <string>

#include "base/error.hpp"
#include "bvh/triangle_pairs.hpp"

namespace rayreplay::bvh {
namespace {

constexpr std::uint32_t kMaskShift = 24;
constexpr std::uint64_t kFlagsShift = 48;
constexpr std::uint32_t kAllRays = 0xFF;

[[noreturn]] void wrong_leaf(const std::string& found, const char* expected) {
  throw Error(ErrorKind::Internal, {"a leaf does not fit the layout", "quantised-6", found, expected, ""});
}

LeafDescriptor descriptor_of(const trace::Geometry& geometry, std::uint32_t index) {
  if (index > LeafDescriptor::kIndexMask) {
    throw Error(ErrorKind::Resource, {"an acceleration structure has too many geometries for layout quantised-6", "",
                                      std::to_string(index), "fewer than 16777216", "use leaves=references"});
  }
  return {index | kAllRays << kMaskShift, index | (geometry.opaque ? LeafDescriptor::kOpaque : 0)};
}

std::array<float, 3> vertex_of(const trace::Geometry& geometry, std::uint32_t vertex) {
  const float* const at = &geometry.vertices[std::size_t{vertex} * 3];
  return {at[0], at[1], at[2]};
}

}  // namespace

QuadLeaf make_quad_leaf(const PreparedScene& scene, std::uint32_t blas, std::span<const std::uint32_t> numbers) {
  if (numbers.empty() || numbers.size() > 2) {
    wrong_leaf(std::to_string(numbers.size()) + " triangles", "1 or 2");
  }
  const auto [index, primitive] = scene.locate(blas, numbers[0]);
  const trace::Geometry& geometry = scene.geometry(blas, index);
  const Corners first = corners_of(geometry, primitive);
  QuadLeaf leaf{descriptor_of(geometry, index), primitive, QuadLeaf::kLast, {}};
  for (std::size_t i = 0; i < 3; ++i) {
    leaf.vertices[i] = vertex_of(geometry, first[i]);
  }
  leaf.vertices[3] = leaf.vertices[2];
  if (numbers.size() == 1) {
    return leaf;
  }
  const auto [second_index, second] = scene.locate(blas, numbers[1]);
  const Corners corners = second_index == index ? corners_of(geometry, second) : Corners{};
  const auto shared = shared_edge(first, corners);
  if (second_index != index || !shared || second <= primitive || second - primitive >= TrianglePairs::kSecond) {
    wrong_leaf("two triangles that are no pair", "a shared edge, the lower number first");
  }
  leaf.second |= second - primitive;
  for (std::size_t i = 0; i < 3; ++i) {
    const std::uint32_t corner = (*shared)[i];
    leaf.second |= corner << (16 + 2 * i);
    if (corner == 3) {
      leaf.vertices[3] = vertex_of(geometry, corners[i]);
    }
  }
  return leaf;
}

ProceduralLeaf make_procedural_leaf(const PreparedScene& scene, std::uint32_t blas, std::uint32_t number) {
  constexpr std::uint32_t kOne = 1;
  constexpr std::uint32_t kFirstIsLast = 1U << 19U;
  const auto [index, primitive] = scene.locate(blas, number);
  ProceduralLeaf leaf{descriptor_of(scene.geometry(blas, index), index), kOne | kFirstIsLast, {}};
  leaf.primitive.fill(0xFFFF'FFFFU);
  leaf.primitive[0] = primitive;
  return leaf;
}

InstanceLeaf make_instance_leaf(const PreparedScene& scene, std::uint32_t instance) {
  const trace::Instance& source = scene.source(instance);
  const Transformd& to_object = scene.instances[instance].to_object;
  InstanceLeaf leaf{};
  leaf.mask = std::uint32_t{source.mask} << kMaskShift;
  leaf.hit_group = source.hit_group_offset & LeafDescriptor::kIndexMask;
  leaf.start = std::uint64_t{source.flags} << kFlagsShift;
  leaf.custom_index = source.custom_index;
  leaf.instance = instance;
  for (std::size_t row = 0; row < 3; ++row) {
    const auto axis = static_cast<Eigen::Index>(row);
    for (std::size_t column = 0; column < 3; ++column) {
      leaf.to_object[column][row] = static_cast<float>(to_object(axis, static_cast<Eigen::Index>(column)));
      leaf.to_world[column][row] = source.transform[row * 4 + column];
    }
    leaf.object_offset[row] = static_cast<float>(to_object(axis, 3));
    leaf.world_offset[row] = source.transform[row * 4 + 3];
  }
  return leaf;
}

}  // namespace rayreplay::bvh
