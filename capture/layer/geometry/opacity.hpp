// The opacity table of observe_all: which geometries of which instances are opaque to the application.
//
// Contract: `opacity_table` makes the words of instrument::Options::opacity_address for a top-level structure's
// content: [0] number of instances n, [1 + i] first bit of instance i, and from word 1 + n on the bits. A geometry is
// opaque if its instance forces it, or it has VK_GEOMETRY_OPAQUE_BIT and its instance does not force the contrary
// (Vulkan 1.3, "Ray Opaque Culling"; the shader applies ray flags afterwards). Instances of one bottom level with equal
// flags share bits. Empty if the content is not known well enough. Pure; linear in instances and distinct geometries.
#pragma once

#include <cstdint>
#include <vector>

#include "capture/layer/geometry/content.hpp"

namespace rayreplay::layer::geometry {

[[nodiscard]] std::vector<std::uint32_t> opacity_table(const Content& top_level);

}  // namespace rayreplay::layer::geometry
