// mesh_viewer: triangle meshes by a Vulkan ray-tracing pipeline: alpha-tested geometry, shadow rays, bounces. It knows
// nothing of rayreplay's capture.
//
// Scenes are those of the built-in tracer (its generated scenes, and OBJ, PLY and glTF files), with the same
// bottom-level structures, geometries and instances in the same order. Unlike there, every geometry has a shader record
// of its own: instances' hit-group offsets are their first geometry's number, and the stride is 1.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <vector>

#include "base/error.hpp"
#include "capture/apps/framework/acceleration.hpp"
#include "capture/apps/framework/frames.hpp"
#include "capture/apps/framework/options.hpp"
#include "capture/apps/framework/picture.hpp"
#include "capture/apps/framework/shared_resources.hpp"
#include "capture/apps/mesh_viewer/hit_groups.hpp"
#include "capture/apps/mesh_viewer/lights.hpp"
#include "capture/apps/mesh_viewer/mesh_scene.hpp"
#include "capture/apps/mesh_viewer/viewer_options.hpp"
#include "capture/reference/scene.hpp"
#include "capture/reference/vec.hpp"

namespace rayreplay::apps {
namespace {

void add_viewer_options(CLI::App& app, ViewerOptions& viewer) {
  app.add_option("--scene", viewer.scene, "A built-in scene (hall, cornell, ...) or an OBJ, PLY or glTF file")
      ->type_name("SPEC|FILE")
      ->capture_default_str()
      ->group("Scene");
  app.add_option("--camera", viewer.camera, "From x,y,z, at x,y,z, and perhaps the vertical field of view in degrees")
      ->type_name("N,...")
      ->delimiter(',')
      ->expected(6, 7)
      ->group("Scene");
  app.add_option("--light", viewer.light,
                 "Shadow rays to: emissive triangles; a sun; none. auto: the scene's lights, else a sun")
      ->type_name("WORD")
      ->check(CLI::IsMember({"auto", "emissive", "sun", "none"}))
      ->capture_default_str()
      ->group("Scene");
  app.add_flag("--alpha", viewer.alpha, "Cut holes into everything that is not alpha-tested by a texture")
      ->group("Scene");
  app.add_flag("--animate", viewer.animate, "Move the instances from frame to frame")->group("Scene");
  app.add_flag("--compact", viewer.compact, "Compact the bottom-level structures")->group("Scene");
  app.add_flag("--index16", viewer.index16, "16-bit indices where a geometry has at most 65536 vertices")
      ->group("Scene");
}

reference::Camera make_camera(const reference::Camera& of_scene, const ViewerOptions& viewer) {
  const std::vector<float>& v = viewer.camera;
  if (v.empty()) {
    return of_scene;
  }
  reference::Camera camera{.from = {v[0], v[1], v[2]}, .at = {v[3], v[4], v[5]}, .up = of_scene.up};
  camera.vertical_fov_degrees = v.size() > 6 ? v[6] : of_scene.vertical_fov_degrees;
  const Vec3 view = camera.at - camera.from;
  const bool upright = reference::length(view.cross(camera.up)) > 0;
  if (!view.allFinite() || !upright || !(camera.vertical_fov_degrees > 0) || !(camera.vertical_fov_degrees < 180)) {
    throw Error(ErrorKind::Usage, {"not a camera", "--camera", "",
                                   "two different finite points, not one above the other, and an angle in (0, 180)",
                                   "for example --camera 0,1,5,0,1,0,40"});
  }
  camera.focus_distance = reference::length(view);
  return camera;
}

void choose_lights(const ViewerOptions& viewer, const std::vector<LightRecord>& lights, Params& params) {
  if (viewer.light == "emissive" && lights.empty()) {
    throw Error(ErrorKind::Usage, {"the scene has no emissive triangles without texture", "--light", "emissive", "",
                                   "choose --light sun"});
  }
  if (viewer.light == "sun" || (viewer.light == "auto" && lights.empty())) {
    const Vec3 sun = reference::normalize(Vec3{0.4F, 0.8F, 0.45F});
    params.sun = {sun.x(), sun.y(), sun.z()};
    params.sun_radiance = {1, 0.95F, 0.85F};
  } else if (viewer.light != "none") {
    params.lights = static_cast<std::uint32_t>(lights.size());
    params.light_power = lights.back().cumulative;
  }
}

Params make_viewer_params(const reference::RenderScene& scene, const Options& options, const ViewerOptions& viewer,
                          const MeshScene& mesh) {
  Params params = make_params(make_camera(scene.camera, viewer), scene.sky, options);
  const float extent = scene_extent(scene);
  const bool boxes = std::any_of(mesh.traits().begin(), mesh.traits().end(), [](auto& t) { return t.spheres; });
  params.t_min = boxes ? 0.001F : 1e-5F * extent;
  params.t_max = std::max(10000.0F, extent);
  params.ray_flags = mesh.all_opaque() ? kRayFlagOpaque : 0;
  params.sbt_stride = 1;
  return params;
}

void note(const std::string& text) {
  fmt::print(stderr, "mesh_viewer: note: {}\n", text);
}

void render(Options& options, const ViewerOptions& viewer) {
  const std::uint64_t threads = std::uint64_t{options.width} * options.height;
  const std::vector<std::uint32_t> swizzle =
      options.swizzle.empty() ? std::vector<std::uint32_t>() : read_swizzle(options.swizzle, threads);
  const reference::RenderScene scene = reference::make_scene(viewer.scene, nullptr);
  for (const std::string& text : scene.notes) {
    note(text);
  }
  const bool spheres = std::any_of(scene.geometries.begin(), scene.geometries.end(),
                                   [](const auto& part) { return part.geometry.type == trace::GeometryType::Boxes; });
  const Device device({options.device, options.reorder, spheres});
  require_within(options, device.limits(), options.depth + 1);
  const MeshScene mesh(device, scene, options, viewer);
  if (mesh.kept_32_bits() > 0) {
    note(fmt::format("{} geometries have more than 65536 vertices and keep 32-bit indices", mesh.kept_32_bits()));
  }
  TopLevel top(device, mesh.instances(0), viewer.animate);

  Params params = make_viewer_params(scene, options, viewer, mesh);
  std::vector<GeometryRecord> records = mesh.records();
  const std::vector<LightRecord> lights = find_lights(scene, records);
  choose_lights(viewer, lights, params);
  if (params.lights == 0) {
    records = mesh.records();  // nothing is sampled
  }
  const Buffer light_buffer = upload(device, lights, VK_BUFFER_USAGE_STORAGE_BUFFER_BIT);
  const SharedResources shared(device, options, params, swizzle);
  std::vector<Binding> bindings = shared.bindings(top.handle());
  for (const Buffer* buffer : {&mesh.materials(), &mesh.textures(), &light_buffer}) {
    bindings.emplace_back(StorageBinding{buffer});
  }
  const DescriptorSet descriptors(device, bindings);
  const ViewerPipeline parts = make_viewer_pipeline(options, shared, mesh.traits(), records);
  const RayTracingPipeline pipeline(device, parts.builder, descriptors);
  const ShaderBindingTable table(device, pipeline, parts.ray_generation, parts.miss, parts.hit);

  FrameWork work{&pipeline, &descriptors, &table, {}};
  if (viewer.animate) {
    work.before = [&](VkCommandBuffer commands, std::uint32_t frame) { top.update(commands, mesh.instances(frame)); };
  }
  print_times(render_frames(device, options, work));
  if (!options.image.empty()) {
    write_picture(options.image, options.width, options.height, shared.picture().download());
  }
}

}  // namespace
}  // namespace rayreplay::apps

int main(int argc, char** argv) {
  rayreplay::apps::ViewerOptions viewer;
  return rayreplay::apps::run_program(
      argc, argv,
      {"mesh_viewer",
       "Renders triangle meshes by a Vulkan ray-tracing pipeline, without a window: alpha-tested geometry, shadow rays "
       "and bounces.",
       [&](CLI::App& app) { rayreplay::apps::add_viewer_options(app, viewer); },
       [&](rayreplay::apps::Options& options) { rayreplay::apps::render(options, viewer); }});
}
