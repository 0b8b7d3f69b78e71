// What the tracer says about a capture, and what it refuses.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "tests/reference/support.hpp"
#include "tests/support/counting_progress.hpp"

namespace rayreplay::test {
namespace {

using reference::HitGroups;
using trace::ShaderStage;

std::vector<std::string> names(const std::vector<trace::Shader>& shaders) {
  std::vector<std::string> result;
  for (const auto& shader : shaders) {
    result.push_back(std::string(trace::to_string(shader.stage)) + ": " + shader.name);
  }
  return result;
}

TEST(Description, OneOfEachAsInThePublishedBenchmark) {
  const auto description = reference::describe_capture(sphere_cloud(9, 1), small_options());
  EXPECT_EQ(names(description.shaders),
            (std::vector<std::string>{"ray-generation: path", "intersection: sphere test, any material",
                                      "closest-hit: shading, any material", "miss: sky"}));
  for (const auto& instance : description.scene.instances) {
    EXPECT_EQ(instance.hit_group_offset, 0U);
  }
}

TEST(Description, OneHitGroupPerMaterialAndType) {
  auto options = small_options();
  options.hit_groups = HitGroups::PerMaterial;
  options.next_event = true;
  const auto spheres = reference::describe_capture(sphere_cloud(9, 1), options);
  EXPECT_EQ(names(spheres.shaders),
            (std::vector<std::string>{"ray-generation: path", "intersection: sphere test, diffuse",
                                      "intersection: sphere test, metal", "intersection: sphere test, dielectric",
                                      "closest-hit: shading, diffuse", "closest-hit: shading, metal",
                                      "closest-hit: shading, dielectric", "miss: sky"}));
  for (std::uint32_t i = 0; i < 9; ++i) {
    EXPECT_EQ(spheres.scene.instances[i].hit_group_offset, i % 3);
  }
  const auto scene = mixed_scene(1);
  const auto mixed = reference::describe_capture(scene, options);
  EXPECT_EQ(names(mixed.shaders),
            (std::vector<std::string>{"ray-generation: path", "intersection: sphere test, diffuse spheres",
                                      "intersection: sphere test, emissive", "any-hit: alpha test, diffuse triangles",
                                      "any-hit: alpha test, diffuse spheres", "closest-hit: shading, diffuse triangles",
                                      "closest-hit: shading, diffuse spheres", "closest-hit: shading, metal",
                                      "closest-hit: shading, emissive", "miss: sky", "miss: unoccluded"}));
  // One structure mixes metal and diffuse: a record per geometry.
  EXPECT_EQ(mixed.scene.instances.back().hit_group_offset, scene.blases.back().first_geometry);
}

TEST(Description, HoldsTheSceneAndEverySetting) {
  const auto scene = mixed_scene(2);
  auto options = small_options();
  options.scene_spec = "hand-made:x=1";
  options.integrator = "ao:rays=3";
  const auto description = reference::describe_capture(scene, options);
  ASSERT_EQ(description.scene.geometries.size(), scene.geometries.size());
  for (std::size_t i = 0; i < scene.geometries.size(); ++i) {
    EXPECT_EQ(description.scene.geometries[i].vertices, scene.geometries[i].geometry.vertices);
    EXPECT_EQ(description.scene.geometries[i].boxes, scene.geometries[i].geometry.boxes);
  }
  EXPECT_EQ(description.scene.blases.size(), scene.blases.size());
  EXPECT_EQ(description.scene.instances.size(), scene.instances.size());
  EXPECT_EQ(description.header.not_captured.size(), 3U);
  const auto configuration = nlohmann::json::parse(description.header.configuration);
  EXPECT_EQ(configuration.at("scene"), "hand-made:x=1");
  EXPECT_EQ(configuration.at("integrator"), "ao:rays=3,distance=0");
  EXPECT_EQ(configuration.at("width"), 48);
  EXPECT_EQ(configuration.at("samples"), 2);
  EXPECT_EQ(configuration.at("seed"), 7);
  EXPECT_EQ(configuration.at("hit_groups"), "single");
  EXPECT_TRUE(configuration.contains("isa"));
}

ErrorKind kind_of(const reference::RenderScene& scene, const reference::TracerOptions& options) {
  try {
    reference::trace_scene(scene, options, nullptr);
  } catch (const Error& error) {
    return error.kind();
  }
  return ErrorKind::Internal;
}

TEST(Refusals, BadOptionsAndScenes) {
  const auto scene = sphere_cloud(3, 1);
  auto options = small_options();
  options.integrator = "pth";
  try {
    reference::trace_scene(scene, options, nullptr);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::Usage);
    EXPECT_NE(error.info().fix.find("'path'"), std::string::npos);
  }
  for (const auto member : {&reference::TracerOptions::width, &reference::TracerOptions::height,
                            &reference::TracerOptions::samples, &reference::TracerOptions::depth}) {
    for (const std::uint32_t bad : {0U, 65536U}) {
      options = small_options();
      options.*member = bad;
      EXPECT_EQ(kind_of(scene, options), ErrorKind::Usage);
    }
  }
  options = small_options();
  options.t_min = 5;
  options.t_max = 4;
  EXPECT_EQ(kind_of(scene, options), ErrorKind::Usage);
  auto broken = scene;
  broken.geometries[1].geometry.boxes[2] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(kind_of(broken, small_options()), ErrorKind::Input);
}

/// A sink that fails after the first batch: the error reaches the caller.
class FailingSink final : public reference::ThreadSink {
 public:
  void begin(trace::LaunchSize, trace::LaunchColumns) override {}
  void append(const trace::ThreadData&) override {
    if (++calls_ == 2) {
      throw Error(ErrorKind::Output, {"the disk is full", "", "", "", ""});
    }
  }

 private:
  int calls_ = 0;
};

TEST(Refusals, AFailingSinkStopsTheRun) {
  FailingSink sink;
  try {
    reference::trace_scene(sphere_cloud(10, 1), small_options(), &sink);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::Output);
  }
}

TEST(Progress, CountsThreads) {
  test::CountingProgress progress;
  reference::trace_scene(sphere_cloud(10, 1), small_options(), nullptr, &progress);
  EXPECT_EQ(progress.total, 48U * 32U);
  EXPECT_EQ(progress.done, progress.total);
  EXPECT_TRUE(progress.finished);
}

}  // namespace
}  // namespace rayreplay::test
