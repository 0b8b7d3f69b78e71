// Blocks of image formats. Internal to this room.
#pragma once

#include <cstdint>
#include <optional>

namespace rayreplay::ingest {

/// A compressed format's block; of others one texel.
struct TexelBlock {
  std::uint32_t width = 1, height = 1, bytes = 0;

  bool operator==(const TexelBlock&) const = default;
};

/// Empty for a VkFormat that is unknown or undefined. Source: the Vulkan registry (vk.xml, formats), whose newer
/// formats than the header's are there too. A format with depth and stencil has the bytes of both.
[[nodiscard]] std::optional<TexelBlock> texel_block(std::int32_t format);

/// Whether it is a format of several planes: they lie one behind the other, and texels have no address of their own.
[[nodiscard]] bool has_planes(std::int32_t format);

}  // namespace rayreplay::ingest
