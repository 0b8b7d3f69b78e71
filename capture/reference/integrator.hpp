// Integrators: the ray-generation shader's work for one sample of a pixel.
//
// Contract: `radiance` makes trace calls through the pipeline and returns linear RGB. It draws random numbers only from
// `random` and keeps no state between calls: a pixel depends only on its own number.
#pragma once

#include "base/registry.hpp"
#include "capture/reference/pipeline.hpp"
#include "capture/reference/random.hpp"

namespace rayreplay::reference {

class Integrator {
 public:
  static constexpr const char* kModelKind = "integrator";
  Integrator() = default;
  Integrator(const Integrator&) = delete;
  Integrator& operator=(const Integrator&) = delete;
  virtual ~Integrator() = default;

  /// Whether the integrator traces shadow rays in this scene. The pipeline then has a second miss shader.
  [[nodiscard]] virtual bool casts_shadow_rays(const Lights& lights, const PipelineSettings& settings) const = 0;
  [[nodiscard]] virtual Vec3 radiance(Ray camera_ray, Pipeline& pipeline, Random& random) const = 0;
};

/// Radiance of a ray that hits nothing.
[[nodiscard]] inline Vec3 sky_radiance(const Sky& sky, const Vec3& unit_direction) {
  return lerp(sky.bottom, sky.top, 0.5F * (unit_direction.y() + 1));
}

}  // namespace rayreplay::reference
