// one_weekend: "Ray Tracing in One Weekend" as a Vulkan application. It knows nothing of rayreplay's capture.
//
// The scene is the built-in tracer's one-weekend (capture/reference/scenes/one_weekend.cpp): every sphere is a
// procedural box in a bottom-level structure and an instance of its own, in the same order and with the same
// hit-group offsets. Only instances' custom indices differ: here they are the number of the instance's first sphere.
#include <cstdint>
#include <exception>
#include <vector>

#include "capture/apps/framework/acceleration.hpp"
#include "capture/apps/framework/frames.hpp"
#include "capture/apps/framework/options.hpp"
#include "capture/apps/framework/picture.hpp"
#include "capture/apps/framework/shared_resources.hpp"
#include "capture/apps/one_weekend/shaders.hpp"
#include "capture/apps/one_weekend/spheres.hpp"
#include "capture/reference/scene.hpp"

namespace rayreplay::apps {
namespace {

/// Ray generation, miss, and one hit group or one for each of the three kinds of material.
PipelineBuilder make_pipeline(const Options& options, const SharedResources& shared) {
  PipelineBuilder builder;
  const auto ray_generation =
      builder.add_stage(VK_SHADER_STAGE_RAYGEN_BIT_KHR, ray_generation_shader(options), shared.constants());
  const auto sky = builder.add_stage(VK_SHADER_STAGE_MISS_BIT_KHR, sky_shader());
  const auto sphere = builder.add_stage(VK_SHADER_STAGE_INTERSECTION_BIT_KHR, sphere_shader());
  const auto accept = options.any_hit ? builder.add_stage(VK_SHADER_STAGE_ANY_HIT_BIT_KHR, accept_shader()) : kNoStage;
  builder.add_general_group(ray_generation);
  builder.add_general_group(sky);
  for (const auto& shader : closest_hit_shaders(options)) {
    builder.add_hit_group(builder.add_stage(VK_SHADER_STAGE_CLOSEST_HIT_BIT_KHR, shader), accept, sphere);
  }
  builder.recursion = options.recursion ? options.depth : 1;
  return builder;
}

void render(Options& options, std::uint32_t scene_seed) {
  const std::uint64_t threads = std::uint64_t{options.width} * options.height;
  const std::vector<std::uint32_t> swizzle =
      options.swizzle.empty() ? std::vector<std::uint32_t>() : read_swizzle(options.swizzle, threads);
  const reference::RenderScene scene = reference::make_scene("one-weekend:seed=" + std::to_string(scene_seed), nullptr);

  const Device device({options.device, options.reorder, true});
  require_within(options, device.limits(), options.depth);
  const bool opaque = !options.any_hit && options.opaque != "no";
  const SphereScene spheres(device, scene, opaque, options.per_material());
  const TopLevel top(device, spheres.instances(), false);

  Params params = make_params(scene.camera, scene.sky, options);
  params.t_min = 0.001F;
  params.t_max = 10000;
  params.ray_flags = opaque ? kRayFlagOpaque : 0;
  const SharedResources shared(device, options, params, swizzle);
  std::vector<Binding> bindings = shared.bindings(top.handle());
  bindings.emplace_back(StorageBinding{&spheres.spheres()});
  bindings.emplace_back(StorageBinding{&spheres.materials()});
  const DescriptorSet descriptors(device, bindings);

  const RayTracingPipeline pipeline(device, make_pipeline(options, shared), descriptors);
  std::vector<ShaderRecord> hit;
  for (std::uint32_t i = 0; i < closest_hit_shaders(options).size(); ++i) {
    hit.push_back({2 + i, {}});
  }
  const ShaderBindingTable table(device, pipeline, {0, {}}, {{1, {}}}, hit);

  print_times(render_frames(device, options, {&pipeline, &descriptors, &table, {}}));
  if (!options.image.empty()) {
    write_picture(options.image, options.width, options.height, shared.picture().download());
  }
}

}  // namespace
}  // namespace rayreplay::apps

int main(int argc, char** argv) {
  std::uint32_t scene_seed = 42;
  return rayreplay::apps::run_program(
      argc, argv,
      {"one_weekend",
       "Renders the final scene of Ray Tracing in One Weekend by a Vulkan ray-tracing pipeline, without a window.",
       [&](CLI::App& app) {
         app.add_option("--scene-seed", scene_seed, "Seed of the places and materials of the small spheres")
             ->type_name("N")
             ->capture_default_str()
             ->group("Picture");
       },
       [&](rayreplay::apps::Options& options) { rayreplay::apps::render(options, scene_seed); }});
}
