// The viewer's compiled shaders.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "capture/apps/framework/options.hpp"

namespace rayreplay::apps {

using Spirv = std::span<const std::uint32_t>;

struct ViewerShaders {
  Spirv ray_generation;
  Spirv sky;
  Spirv unoccluded;
  Spirv sphere;                      ///< intersection
  std::array<Spirv, 2> alpha_test;   ///< any-hit: of triangles, of spheres
  std::array<Spirv, 2> closest_hit;  ///< likewise
};

[[nodiscard]] ViewerShaders viewer_shaders(const Options& options);

}  // namespace rayreplay::apps
