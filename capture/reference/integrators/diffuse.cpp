// Diffuse rays alone: one trace call per sample, from where a camera ray hits.
//
// The camera ray itself is not part of the launch: it is traced without being recorded. So a launch has one incoherent
// ray a thread, as benchmarks of traversal take them.
//
// Source: Aila and Laine, Understanding the Efficiency of Ray Traversal on GPUs (HPG 2009): primary, ambient occlusion
// and diffuse rays are measured one by one.
#include "capture/reference/integrator.hpp"
#include "capture/reference/surface.hpp"

namespace rayreplay::reference {
namespace {

class DiffuseRays final : public Integrator {
 public:
  [[nodiscard]] bool casts_shadow_rays(const Lights& /*lights*/, const PipelineSettings& /*settings*/) const override {
    return false;
  }

  [[nodiscard]] Vec3 radiance(Ray ray, Pipeline& pipeline, Random& random) const override {
    Hit hit;
    Vec3 color{1, 1, 1};
    if (pipeline.accelerator().closest(ray, nullptr, hit)) {
      const Surface surface = make_surface(pipeline.accelerator(), ray, hit);
      Vec3 direction = normalize(surface.normal + random.unit_vector());
      if (dot(direction, surface.geometric_normal) <= 0) {
        direction = surface.geometric_normal;
      }
      ray = {surface.point, direction, pipeline.settings().t_min, ray.t_max};
      color = surface.color;
    }
    Hit next;
    if (!pipeline.trace(ray, next)) {
      return color.cwiseProduct(sky_radiance(pipeline.scene().sky, ray.direction));
    }
    return {0, 0, 0};
  }
};

const Registry<Integrator>::Registrar kRegistrar(
    {.kind = "",
     .name = "diffuse",
     .summary = "One diffuse ray per sample, from where a camera ray hits",
     .text =
         "The camera's ray is followed without being part of the launch. The ray-generation shader traces one ray "
         "from its hit, in a cosine-distributed direction; where the camera's ray hits nothing, it traces that ray. "
         "The image shows the sky's light after one diffuse reflection.",
     .source = "Aila and Laine, Understanding the Efficiency of Ray Traversal on GPUs (HPG 2009)",
     .parameters = {}},
    [](const Parameters& /*parameters*/) { return std::make_unique<DiffuseRays>(); });

}  // namespace
}  // namespace rayreplay::reference
