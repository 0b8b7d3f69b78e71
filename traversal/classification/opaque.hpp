// Whether a geometry is opaque (skips any-hit shaders).
//
// Contract: Vulkan's rules: the ray's flags override the instance's, which override the geometry's own.
#pragma once

#include "capture/trace/trace.hpp"
#include "traversal/ray.hpp"

namespace rayreplay::traversal {

[[nodiscard]] inline bool is_opaque(const Ray& ray, const trace::Instance& instance, const trace::Geometry& geometry) {
  constexpr unsigned kForceOpaque = 4;    // VK_GEOMETRY_INSTANCE_FORCE_OPAQUE_BIT_KHR
  constexpr unsigned kForceNoOpaque = 8;  // VK_GEOMETRY_INSTANCE_FORCE_NO_OPAQUE_BIT_KHR
  if ((ray.flags & (trace::kRayFlagOpaque | trace::kRayFlagNoOpaque)) != 0) {
    return (ray.flags & trace::kRayFlagOpaque) != 0;
  }
  if ((instance.flags & (kForceOpaque | kForceNoOpaque)) != 0) {
    return (instance.flags & kForceOpaque) != 0;
  }
  return geometry.opaque;
}

}  // namespace rayreplay::traversal
