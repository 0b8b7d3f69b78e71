// Diffuse rays alone: one trace call per sample, of a bounce of a diffuse path.
//
// The camera ray and the rays of earlier bounces are not part of the launch: they are traced without being recorded. So
// a launch has one incoherent ray a thread, as benchmarks of traversal and the launches of wavefront path tracers do.
//
// Source: Aila and Laine, Understanding the Efficiency of Ray Traversal on GPUs (HPG 2009): primary, ambient occlusion
// and diffuse rays are measured one by one.
#include "base/declare_parameters.hpp"
#include "capture/reference/integrator.hpp"
#include "capture/reference/surface.hpp"

namespace rayreplay::reference {
namespace {

class DiffuseRays final : public Integrator {
 public:
  explicit DiffuseRays(std::int64_t bounce) : bounce_(static_cast<std::uint32_t>(bounce)) {}

  [[nodiscard]] bool casts_shadow_rays(const Lights& /*lights*/, const PipelineSettings& /*settings*/) const override {
    return false;
  }

  [[nodiscard]] Vec3 radiance(Ray ray, Pipeline& pipeline, Random& random) const override {
    Hit hit;
    Vec3 color{1, 1, 1};
    for (std::uint32_t i = 0; i < bounce_ && pipeline.accelerator().closest(ray, nullptr, hit); ++i) {
      const Surface surface = make_surface(pipeline.accelerator(), ray, hit);
      Vec3 direction = normalize(surface.normal + random.unit_vector());
      if (dot(direction, surface.geometric_normal) <= 0) {
        direction = surface.geometric_normal;
      }
      ray = {surface.point, direction, pipeline.settings().t_min, ray.t_max};
      color = color.cwiseProduct(surface.color);
      hit = {};
    }
    Hit next;
    if (!pipeline.trace(ray, next)) {
      return color.cwiseProduct(sky_radiance(pipeline.scene().sky, ray.direction));
    }
    return {0, 0, 0};
  }

 private:
  std::uint32_t bounce_;
};

const Registry<Integrator>::Registrar kRegistrar(
    {.kind = "",
     .name = "diffuse",
     .summary = "One diffuse ray per sample, of one bounce of its path",
     .text =
         "The camera's ray, and the path's rays before the bounce, are followed without being part of the launch. The "
         "ray-generation shader traces one ray from the last hit, in a cosine-distributed direction; if the path "
         "leaves the scene at an earlier bounce, it traces that ray. The image shows the sky's light after `bounce` "
         "diffuse reflections.",
     .source = "Aila and Laine, Understanding the Efficiency of Ray Traversal on GPUs (HPG 2009)",
     .parameters = {declare::whole("bounce", 1, "bounces",
                                   "The bounce whose ray is traced; 1: from the camera ray's hit.", 1, 64)}},
    [](const Parameters& parameters) { return std::make_unique<DiffuseRays>(parameters.get_int("bounce")); });

}  // namespace
}  // namespace rayreplay::reference
