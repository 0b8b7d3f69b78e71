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

/// Nothing for a VkFormat that we do not know. Formats of two components have z = 0; a fourth is ignored (Vulkan,
/// "Ray Traversal"). Numbers of 64 bits are rounded to 32.
[[nodiscard]] std::optional<VertexFormat> vertex_format(std::int32_t format);

}  // namespace rayreplay::ingest
