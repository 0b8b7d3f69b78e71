// Scenes that several end-to-end tests build.
#pragma once

#include <array>
#include <vector>

#include "tests/layer-geometry/vulkan_program.hpp"

namespace rayreplay::layer::geometry {

using Vertex = std::array<float, 3>;

/// `count` triangles at z, each around a different point of the rays' grid from `first` on.
inline std::vector<Vertex> triangle_vertices(std::size_t count, float z, std::size_t first = 0) {
  std::vector<Vertex> vertices;
  for (std::size_t i = first; i < first + count; ++i) {
    const auto x = static_cast<float>(i % VulkanProgram::kSide);
    const auto y = static_cast<float>(i / VulkanProgram::kSide % VulkanProgram::kSide);
    vertices.insert(vertices.end(), {{x - 0.3F, y - 0.3F, z}, {x + 0.4F, y - 0.3F, z}, {x, y + 0.4F, z}});
  }
  return vertices;
}

/// A bottom level of these triangles.
inline BuildRequest mesh(const TestBuffer& vertices, VkGeometryFlagsKHR flags = 0,
                         VkBuildAccelerationStructureFlagsKHR build_flags = 0) {
  BuildRequest request;
  request.flags = build_flags;
  const auto count = static_cast<std::uint32_t>(vertices.bytes / sizeof(Vertex));
  request.add(triangles(vertices.address, VK_FORMAT_R32G32B32_SFLOAT, sizeof(Vertex), count - 1, VK_INDEX_TYPE_NONE_KHR,
                        0, 0, flags),
              {count / 3, 0, 0, 0});
  return request;
}

inline BuildRequest scene(VulkanProgram& program, const std::vector<VkAccelerationStructureInstanceKHR>& of) {
  BuildRequest request;
  request.type = VK_ACCELERATION_STRUCTURE_TYPE_TOP_LEVEL_KHR;
  request.add(instances(program.filled(of).address), {static_cast<std::uint32_t>(of.size()), 0, 0, 0});
  return request;
}

template <class T>
std::vector<std::uint8_t> bytes_of(const std::vector<T>& values) {
  const auto* first = reinterpret_cast<const std::uint8_t*>(values.data());
  return {first, first + values.size() * sizeof(T)};
}

}  // namespace rayreplay::layer::geometry
