// Vertex formats of acceleration structure builds. Internal to this room.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace rayreplay::ingest {

struct VertexFormat {
  std::size_t bytes = 0;  ///< that a vertex has
  std::array<float, 3> (*read)(const std::byte* vertex) = nullptr;
};

/// Empty for an unknown VkFormat. Formats of two components have z = 0; a fourth is ignored (Vulkan, "Ray Traversal").
/// 64-bit numbers are rounded to 32 bits.
[[nodiscard]] std::optional<VertexFormat> vertex_format(std::int32_t format);

}  // namespace rayreplay::ingest
