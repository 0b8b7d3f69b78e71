// Path tracing: one loop in the ray-generation shader, one trace call a bounce, until the path leaves the scene, is
// absorbed, reaches a light or has made `depth` trace calls.
//
// Source: Shirley, Ray Tracing in One Weekend (2020), §8 to §10; next-event estimation after Shirley, Wang and
// Zimmerman, Monte Carlo Techniques for Direct Lighting Calculations (1996), §3.
#include <cmath>
#include <numbers>

#include "capture/reference/integrator.hpp"
#include "capture/reference/surface.hpp"

namespace rayreplay::reference {
namespace {

class PathIntegrator final : public Integrator {
 public:
  [[nodiscard]] bool casts_shadow_rays(const Lights& lights, const PipelineSettings& settings) const override {
    return settings.next_event && !lights.empty();
  }

  [[nodiscard]] Vec3 radiance(Ray ray, Pipeline& pipeline, Random& random) const override {
    const bool shadow_rays = casts_shadow_rays(pipeline.lights(), pipeline.settings());
    Vec3 sum{0, 0, 0};
    Vec3 throughput{1, 1, 1};
    bool light_counted = false;
    for (std::uint32_t bounce = 0; bounce < pipeline.settings().depth; ++bounce) {
      Hit hit;
      if (!pipeline.trace(ray, hit)) {
        return sum + throughput.cwiseProduct(sky_radiance(pipeline.scene().sky, ray.direction));
      }
      const Surface surface = make_surface(pipeline.accelerator(), ray, hit);
      if (surface.material->kind == MaterialKind::Emissive) {
        return light_counted ? sum : sum + throughput.cwiseProduct(surface.color);
      }
      const Scattered next = scatter(surface, ray.direction, random);
      if (next.absorbed) {
        return sum;
      }
      light_counted = shadow_rays && next.diffuse;
      if (light_counted) {
        sum += throughput.cwiseProduct(direct_light(surface, pipeline, random));
      }
      throughput = throughput.cwiseProduct(next.attenuation);
      ray.origin = surface.point;
      ray.direction = next.direction;
    }
    return sum;
  }

 private:
  /// Light that the surface receives from one sampled point of a light and reflects to the viewer.
  static Vec3 direct_light(const Surface& surface, Pipeline& pipeline, Random& random) {
    const LightSample light = pipeline.lights().sample(random);
    const Vec3 way = light.point - surface.point;
    const float distance = length(way);
    const Vec3 direction = normalize(way);
    const float cosine_surface = dot(surface.normal, direction);
    const float cosine_light = light.two_sided ? std::abs(dot(light.normal, direction)) : -dot(light.normal, direction);
    // Ends before the light, which must not occlude its own sample.
    const float t_max = distance * (1 - 1e-4F);
    if (!(cosine_surface > 0) || !(cosine_light > 0) || !(dot(surface.geometric_normal, direction) > 0) ||
        !(t_max > pipeline.settings().t_min)) {
      return {0, 0, 0};
    }
    if (pipeline.occluded({surface.point, direction, pipeline.settings().t_min, t_max})) {
      return {0, 0, 0};
    }
    const float geometry = cosine_surface * cosine_light / (distance * distance);
    return surface.color.cwiseProduct(light.radiance) * (geometry * light.inverse_density / std::numbers::pi_v<float>);
  }
};

const Registry<Integrator>::Registrar kRegistrar(
    {.kind = "",
     .name = "path",
     .summary = "Path tracing with diffuse, metal, dielectric and emissive materials",
     .text = "The ray-generation shader loops over samples and, in each, over bounces: one trace call, then the next "
             "direction as in the book. A path ends in the sky, in a light, when it is absorbed, or after `depth` "
             "trace calls, when it brings back nothing. With next-event estimation every diffuse bounce makes one "
             "more trace call, to a point on an emissive triangle or sphere, with the flags SkipClosestHit and "
             "TerminateOnFirstHit; light that the bounce itself would meet is then not counted twice. Scenes without "
             "lights make no such calls. No Russian roulette, no importance sampling of the sky.",
     .source = "Shirley, Ray Tracing in One Weekend (2020), sections 8 to 10",
     .parameters = {}},
    [](const Parameters&) { return std::make_unique<PathIntegrator>(); });

}  // namespace
}  // namespace rayreplay::reference
