// Primary rays: one trace call per sample, shaded without any more rays.
#include "capture/reference/integrator.hpp"
#include "capture/reference/surface.hpp"

namespace rayreplay::reference {
namespace {

enum class Show : std::uint8_t { Shaded, Color, Normal };

class PrimaryRays final : public Integrator {
 public:
  explicit PrimaryRays(Show show) : show_(show) {}

  [[nodiscard]] bool casts_shadow_rays(const Lights& /*lights*/, const PipelineSettings& /*settings*/) const override {
    return false;
  }

  [[nodiscard]] Vec3 radiance(Ray ray, Pipeline& pipeline, Random& /*random*/) const override {
    Hit hit;
    if (!pipeline.trace(ray, hit)) {
      return sky_radiance(pipeline.scene().sky, ray.direction);
    }
    const Surface surface = make_surface(pipeline.accelerator(), ray, hit);
    switch (show_) {
      case Show::Color:
        return surface.color;
      case Show::Normal:
        return (surface.normal + Vec3{1, 1, 1}) * 0.5F;
      case Show::Shaded:
        break;
    }
    return surface.color * -dot(surface.normal, ray.direction);
  }

 private:
  Show show_;
};

const Registry<Integrator>::Registrar kRegistrar(
    {.kind = "",
     .name = "primary",
     .summary = "One ray per sample",
     .text = "The ray-generation shader traces one ray per sample and returns the colour of what it meets: shaded by "
             "the angle to the viewer, plain, or the normal as a colour.",
     .source = "rayreplay",
     .parameters = {{"show", std::string("shaded"), "", "what the image shows", 0, 0, {"shaded", "color", "normal"}}}},
    [](const Parameters& parameters) {
      const std::string& show = parameters.get_string("show");
      return std::make_unique<PrimaryRays>(show == "color"    ? Show::Color
                                           : show == "normal" ? Show::Normal
                                                              : Show::Shaded);
    });

}  // namespace
}  // namespace rayreplay::reference
