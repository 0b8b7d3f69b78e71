// Ambient occlusion: the free share of the hemisphere over the first hit.
//
// Source: Zhukov, Iones and Kronin, An Ambient Light Illumination Model (1998), in its usual form: cosine-distributed
// rays of bounded length.
#include "capture/reference/integrator.hpp"
#include "capture/reference/surface.hpp"

namespace rayreplay::reference {
namespace {

class AmbientOcclusion final : public Integrator {
 public:
  AmbientOcclusion(std::int64_t rays, double distance)
      : rays_(static_cast<std::uint32_t>(rays)), distance_(static_cast<float>(distance)) {}

  [[nodiscard]] bool casts_shadow_rays(const Lights& /*lights*/, const PipelineSettings& /*settings*/) const override {
    return true;
  }

  [[nodiscard]] Vec3 radiance(Ray ray, Pipeline& pipeline, Random& random) const override {
    Hit hit;
    if (!pipeline.trace(ray, hit)) {
      return {1, 1, 1};
    }
    const Surface surface = make_surface(pipeline.accelerator(), ray, hit);
    const Camera& camera = pipeline.scene().camera;
    const float reach = distance_ > 0 ? distance_ : 0.25F * length(camera.at - camera.from);
    std::uint32_t free = 0;
    for (std::uint32_t i = 0; i < rays_; ++i) {
      Vec3 direction = normalize(surface.normal + random.unit_vector());
      if (dot(direction, surface.geometric_normal) <= 0) {
        direction = surface.geometric_normal;
      }
      free += pipeline.occluded({surface.point, direction, pipeline.settings().t_min, reach}) ? 0U : 1U;
    }
    const float share = static_cast<float>(free) / static_cast<float>(rays_);
    return {share, share, share};
  }

 private:
  std::uint32_t rays_;
  float distance_;
};

const Registry<Integrator>::Registrar kRegistrar(
    {.kind = "",
     .name = "ao",
     .summary = "One primary ray and n occlusion rays of bounded length",
     .text = "The ray-generation shader traces one ray per sample and, from its hit, a number of occlusion rays "
             "(SkipClosestHit, TerminateOnFirstHit) in cosine-distributed directions. The image shows the share that "
             "met nothing; the sky is white.",
     .source = "Zhukov, Iones and Kronin, An Ambient Light Illumination Model (1998)",
     .parameters = {{"rays", std::int64_t{4}, "rays", "occlusion rays of each sample", 1, 1024, {}},
                    {"distance",
                     0.0,
                     "scene units",
                     "length of occlusion rays; 0: a quarter of the way from the camera to the point it looks at",
                     0,
                     1e30,
                     {}}}},
    [](const Parameters& parameters) {
      return std::make_unique<AmbientOcclusion>(parameters.get_int("rays"), parameters.get_double("distance"));
    });

}  // namespace
}  // namespace rayreplay::reference
