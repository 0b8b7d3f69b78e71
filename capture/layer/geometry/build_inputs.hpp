// The memory that a build of an acceleration structure reads, and the meaning of its bytes.
//
// Contract: pure functions of VkAccelerationStructureGeometryKHR and its build range, for device and host builds (a
// host pointer is an address here). `inputs_of` gives the stretches that are read; for the vertices of indexed
// triangles an upper bound (maxVertex; the buffer may end earlier). `assemble` makes a spool::Geometry of copies of
// them: packed (a stride is the element's size), vertices cut to those between the least and the largest index
// (subtracted from the indices: index 0 is the first vertex kept); `missing` names inputs without, or with too short,
// copies. Offsets as in Vulkan 1.3 ("Acceleration Structure Building", VkAccelerationStructureBuildRangeInfoKHR):
// primitiveOffset moves indices, or vertices where there are none; firstVertex moves vertices. Complexity: linear in
// the bytes.
#pragma once

#include <vulkan/vulkan.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "capture/spool/format.hpp"

namespace rayreplay::layer::geometry {

enum class Input : std::uint8_t { Vertices = 0, Indices, Transform, Boxes, Instances };
inline constexpr std::size_t kInputs = 5;
[[nodiscard]] const char* name_of(Input input);

/// bytes 0: the geometry has no such input.
struct Stretch {
  std::uint64_t address = 0, bytes = 0;
};
using Inputs = std::array<Stretch, kInputs>;

/// A copy of memory: bytes [address, address + bytes) at the time of the build.
struct Window {
  std::uint64_t address = 0, bytes = 0;
  const std::uint8_t* data = nullptr;
  std::string missing;  ///< why there is no copy, or why it ends early
};
using Windows = std::array<Window, kInputs>;

/// Bytes of a vertex in a build; 0: unknown format.
[[nodiscard]] std::uint32_t vertex_bytes(VkFormat format);
/// 0 for VK_INDEX_TYPE_NONE_KHR and unknown types.
[[nodiscard]] std::uint32_t index_bytes(VkIndexType type);

[[nodiscard]] Inputs inputs_of(const VkAccelerationStructureGeometryKHR& geometry,
                               const VkAccelerationStructureBuildRangeInfoKHR& range);

/// Triangles and boxes; `missing` names other types.
[[nodiscard]] spool::Geometry assemble(const VkAccelerationStructureGeometryKHR& geometry,
                                       const VkAccelerationStructureBuildRangeInfoKHR& range, const Windows& windows);

/// The bytes [stretch.address, + stretch.bytes) of a window; nullptr if it does not hold them all.
[[nodiscard]] const std::uint8_t* read(const Window& window, const Stretch& stretch);

}  // namespace rayreplay::layer::geometry
