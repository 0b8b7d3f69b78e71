// Emissive triangles and spheres for next-event estimation.
//
// Contract: a light is picked in proportion to power (area times the largest colour component), a point on it uniformly
// over its object-space area; `inverse_density` is one over the density of that point by world area, so that
// radiance · cosines / distance² · inverse_density is unbiased under any instance transform. Triangles shine from both
// sides, as the book's lights do, spheres outwards. Picking costs a binary search.
#pragma once

#include <cstdint>
#include <vector>

#include "capture/reference/random.hpp"
#include "capture/reference/scene.hpp"

namespace rayreplay::reference {

struct LightSample {
  Vec3 point;
  Vec3 normal;  ///< unit length
  bool two_sided = false;
  Vec3 radiance;
  float inverse_density = 0;
};

class Lights {
 public:
  explicit Lights(const RenderScene& scene);

  [[nodiscard]] bool empty() const {
    return lights_.empty();
  }
  [[nodiscard]] LightSample sample(Random& random) const;

 private:
  struct Light {
    std::uint32_t instance = 0;
    std::uint32_t geometry = 0;
    std::uint32_t primitive = 0;
    double power = 0;
    double cumulative = 0;
  };

  [[nodiscard]] LightSample on_triangle(const Light& light, Random& random) const;
  [[nodiscard]] LightSample on_sphere(const Light& light, Random& random) const;

  const RenderScene* scene_;
  std::vector<Light> lights_;
};

}  // namespace rayreplay::reference
