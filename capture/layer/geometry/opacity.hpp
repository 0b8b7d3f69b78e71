// The opacity table of observe_all: which geometries of which instances are opaque to the application.
//
// Contract: `opacity_table` lays out the words that instrument::Options::opacity_address describes for what a top-level
// structure holds: [0] number of instances n, [1 + i] first bit of instance i, and from word 1 + n on the bits. A
// geometry is opaque if its instance forces it, or it has VK_GEOMETRY_OPAQUE_BIT and its instance does not force the
// contrary (Vulkan 1.3, "Ray Opaque Culling"; ray flags come after both and are the shader's matter). Instances
// of one bottom level with the same flags share bits. Empty if the content is not known well enough. Pure; complexity
// linear in instances and distinct geometries.
#pragma once

#include <cstdint>
#include <vector>

#include "capture/layer/geometry/content.hpp"

namespace rayreplay::layer::geometry {

[[nodiscard]] std::vector<std::uint32_t> opacity_table(const Content& top_level);

}  // namespace rayreplay::layer::geometry
