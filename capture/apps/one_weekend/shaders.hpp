// The program's compiled shaders.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "capture/apps/framework/options.hpp"

namespace rayreplay::apps {

using Spirv = std::span<const std::uint32_t>;

[[nodiscard]] Spirv ray_generation_shader(const Options& options);
[[nodiscard]] Spirv sky_shader();
[[nodiscard]] Spirv sphere_shader();
[[nodiscard]] Spirv accept_shader();
/// One that knows all kinds of material, or one each for diffuse, metal and dielectric.
[[nodiscard]] std::vector<Spirv> closest_hit_shaders(const Options& options);

}  // namespace rayreplay::apps
