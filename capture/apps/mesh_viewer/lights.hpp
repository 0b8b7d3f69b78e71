// Emissive triangles as the shaders sample them.
//
// Contract: `find_lights` lists the world-space triangles of emissive geometry without texture, in the scene's order,
// with the powers (area times largest colour component) added up, and marks their records as sampled. Emissive spheres
// and textured lights are not listed: paths find them by themselves.
#pragma once

#include <vector>

#include "capture/apps/framework/params.hpp"
#include "capture/apps/mesh_viewer/mesh_scene.hpp"
#include "capture/reference/scene.hpp"

namespace rayreplay::apps {

/// shaders/lights.glsl in C++.
struct LightRecord {
  Float3 corner{};
  float cumulative = 0;
  Float3 edge1{};
  float inverse_density = 0;  ///< of a point on it, chosen by power and then by area
  Float3 edge2{};
  std::uint32_t unused = 0;
  Float3 radiance{};
  std::uint32_t unused2 = 0;
};
static_assert(sizeof(LightRecord) == 64);

[[nodiscard]] std::vector<LightRecord> find_lights(const reference::RenderScene& scene,
                                                   std::vector<GeometryRecord>& records);

}  // namespace rayreplay::apps
