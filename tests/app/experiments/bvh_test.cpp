// rayreplay bvh: every format, every layout, boxes for ParaView, and what cannot be done.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include <nlohmann/json.hpp>

#include "bvh/layout.hpp"
#include "capture/trace/reader.hpp"
#include "capture/trace/writer.hpp"
#include "tests/app/small_trace.hpp"
#include "tests/support/random_trace.hpp"

namespace rayreplay::test {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::StartsWith;

class BvhTest : public SmallTrace {
 protected:
  static json answer(const std::vector<std::string>& options) {
    std::vector<std::string> arguments = {"bvh", trace(), "--format", "json"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    const Outcome outcome = run_command(arguments);
    EXPECT_EQ(outcome.code, 0) << outcome.errors;
    return json::parse(outcome.output);
  }
  static void expect_error(const Outcome& outcome, int code, const std::string& part) {
    EXPECT_EQ(outcome.code, code) << outcome.errors;
    EXPECT_EQ(outcome.output, "");
    EXPECT_THAT(outcome.errors, StartsWith("rayreplay: error: "));
    EXPECT_THAT(outcome.errors, HasSubstr(part));
  }
  /// A trace with that scene and one launch.
  std::string stored(const trace::Scene& scene, std::uint32_t tlas = 0) {
    trace::Trace made = random_trace({.scene = false});
    made.scene = scene;
    made.launches[0].tlas = tlas;
    for (auto* column : {&made.launches[0].data.events.instance, &made.launches[0].data.events.primitive}) {
      std::fill(column->begin(), column->end(), 0U);
    }
    const std::string path = scratch_ / ("stored-" + std::to_string(++stored_) + ".rrt");
    trace::write(made, path);
    return path;
  }

 private:
  int stored_ = 0;
};

trace::Scene one_triangle() {
  trace::Scene scene;
  trace::Geometry mesh;
  for (const float value : {0.F, 0.F, 0.F, 1.F, 0.F, 0.F, 0.F, 1.F, 0.F}) {
    mesh.vertices.push_back(value);
  }
  for (const std::uint32_t index : {0U, 1U, 2U}) {
    mesh.indices.push_back(index);
  }
  scene.geometries = {mesh};
  scene.blases = {{0, 1}};
  scene.instances.resize(1);
  return scene;
}

TEST_F(BvhTest, JsonSaysWhereItComesFromAndAddsUp) {
  const json answer = BvhTest::answer({});
  const trace::Trace loaded = trace::load(trace());
  EXPECT_EQ(answer["schema"], "rayreplay.bvh/1");
  EXPECT_EQ(answer["tool"]["name"], "rayreplay");
  EXPECT_EQ(answer["trace"]["hash"], loaded.hash);
  const json& configuration = answer["configuration"];
  EXPECT_EQ(configuration["tlas"], 0);
  EXPECT_EQ(configuration["launch"], 0);
  EXPECT_THAT(configuration["bvh.builder"].get<std::string>(), StartsWith("medium:"));
  EXPECT_EQ(configuration["layouts"], json({"wide-8"}));
  EXPECT_EQ(configuration["bvh.node_order"], "depth-first");
  EXPECT_EQ(configuration["bvh.vertex_order"], "as-given");
  EXPECT_EQ(configuration["lcv_source"], "launch 0");
  EXPECT_EQ(answer["ignored"]["boxes_inverted"], 0);
  EXPECT_EQ(answer["layouts"][0]["record_bytes"], 256);

  const json& rows = answer["rows"];
  ASSERT_EQ(rows.size(), 3 + loaded.scene.blases.size());
  EXPECT_EQ(rows[0]["level"], "all");
  EXPECT_EQ(rows[1]["level"], "top");
  EXPECT_EQ(rows[1]["instances"], loaded.scene.instances.size());
  EXPECT_EQ(rows[2]["level"], "bottoms");
  EXPECT_EQ(rows[0]["bytes"], rows[1]["bytes"].get<std::uint64_t>() + rows[2]["bytes"].get<std::uint64_t>());
  EXPECT_EQ(rows[0]["epo"], nullptr);
  EXPECT_TRUE(rows[1]["epo"].is_number());
  EXPECT_TRUE(rows[1]["lcv"].is_number());
  std::uint64_t leaves = 0;
  for (const json& count : answer["layouts"][0]["histograms"][0]["leaf_depths"]) {
    leaves += count.get<std::uint64_t>();
  }
  EXPECT_EQ(rows[1]["leaves"], leaves);
  for (std::size_t i = 4; i < rows.size(); ++i) {
    EXPECT_LE(rows[i]["sah"].get<double>(), rows[i - 1]["sah"].get<double>()) << "worst first";
  }
}

TEST_F(BvhTest, EveryLayoutCanBeCompared) {
  const json answer = BvhTest::answer({"--compare-layouts", "--lcv-rays", "0"});
  json layouts = json::array();
  for (const std::string& name : bvh::Layouts::names()) {
    layouts.push_back(bvh::Layouts::create(name).spec);
  }
  EXPECT_EQ(answer["configuration"]["layouts"], layouts);
  EXPECT_EQ(answer["configuration"]["lcv_source"], "none");
  EXPECT_EQ(answer["rows"][1]["lcv"], nullptr);
  const Outcome table = run_command({"bvh", trace(), "--layout", "binary", "--layout", "wide-4"});
  ASSERT_EQ(table.code, 0) << table.errors;
  EXPECT_THAT(table.output, HasSubstr("\nbinary "));
  EXPECT_THAT(table.output, HasSubstr("\nwide-4 "));
  EXPECT_THAT(table.output, testing::Not(HasSubstr("bottoms")));
}

TEST_F(BvhTest, TheStructureFollowsItsOptions) {
  const json plain = answer({"--tlas", "0"});
  EXPECT_EQ(plain["configuration"]["launch"], nullptr);
  EXPECT_EQ(plain["configuration"]["lcv_source"], "random lines");
  const json large = answer({"--builder", "median", "--leaf-size", "7", "--enlarge", "0.5", "--node-order",
                             "treelet:nodes=8", "--vertex-order", "random:seed=9"});
  EXPECT_EQ(large["configuration"]["bvh.leaf_size"], 7);
  EXPECT_EQ(large["configuration"]["bvh.enlarge"], 0.5);
  EXPECT_EQ(large["configuration"]["bvh.node_order"], "treelet:nodes=8");
  EXPECT_EQ(large["configuration"]["bvh.vertex_order"], "random:seed=9");
  EXPECT_GT(large["rows"][1]["sah"], plain["rows"][1]["sah"]);
  EXPECT_GT(large["rows"][1]["mean_leaf"], 2);
}

TEST_F(BvhTest, DataIsTheSameWithAnyNumberOfThreads) {
  const Outcome one = run_command({"--threads", "1", "bvh", trace(), "--format", "csv", "--compare-layouts"});
  const Outcome many = run_command({"--threads", "7", "bvh", trace(), "--format", "csv", "--compare-layouts"});
  ASSERT_EQ(one.code, 0) << one.errors;
  EXPECT_EQ(one.output, many.output);
  EXPECT_THAT(one.output, StartsWith("layout,level,blas,instances,"));
  EXPECT_THAT(one.output, HasSubstr(trace::load(trace()).hash));
}

TEST_F(BvhTest, BoxesAreWrittenBesideTheTable) {
  const std::string boxes = scratch_ / "boxes.vtp";
  const Outcome outcome = run_command({"bvh", trace(), "--vtp", boxes, "--vtp-depth", "1", "-o", scratch_ / "table"});
  ASSERT_EQ(outcome.code, 0) << outcome.errors;
  EXPECT_THAT(read_bytes(boxes), HasSubstr(trace::load(trace()).hash));
  EXPECT_THAT(read_bytes(boxes), testing::EndsWith("</VTKFile>\n"));
  EXPECT_THAT(read_bytes(scratch_ / "table"), HasSubstr("bottoms"));
  const std::string before = read_bytes(boxes);
  expect_error(run_command({"bvh", trace(), "--vtp", boxes}), 4, "exists");
  EXPECT_EQ(read_bytes(boxes), before);
  EXPECT_EQ(run_command({"bvh", trace(), "--vtp", boxes, "--vtp-shape", "faces", "--force"}).code, 0);
  EXPECT_NE(read_bytes(boxes), before);
}

TEST_F(BvhTest, AFullDiskLeavesNoHalfFile) {
  const Outcome outcome = run_command({"bvh", trace(), "--vtp", scratch_ / "boxes.vtp"}, {.max_file_bytes = 20'000});
  expect_error(outcome, 4, "boxes.vtp");
  EXPECT_EQ(scratch_.names(), std::vector<std::string>{});
}

TEST_F(BvhTest, WhatIsIgnoredIsSaid) {
  trace::Scene scene = one_triangle();
  scene.geometries[0].indices.push_back(0);
  scene.geometries[0].indices.push_back(1);
  scene.geometries[0].indices.push_back(3);
  for (int i = 0; i < 3; ++i) {
    scene.geometries[0].vertices.push_back(std::numeric_limits<float>::quiet_NaN());
  }
  scene.instances.resize(2);
  scene.instances[1].transform.fill(0);
  const Outcome outcome = run_command({"bvh", stored(scene), "--format", "json"});
  ASSERT_EQ(outcome.code, 0) << outcome.errors;
  EXPECT_THAT(outcome.errors, HasSubstr("rayreplay: warning: ignored: "));
  const json answer = json::parse(outcome.output);
  EXPECT_EQ(answer["ignored"]["triangles_not_finite"], 1);
  EXPECT_EQ(answer["ignored"]["instances_singular"], 1);
  EXPECT_EQ(answer["rows"][0]["primitives"], 1);
}

TEST_F(BvhTest, ASceneOfNothingActiveIsNoError) {
  trace::Scene scene = one_triangle();
  scene.instances[0].mask = 0;
  const Outcome outcome = run_command({"bvh", stored(scene), "--format", "json", "--compare-layouts"});
  ASSERT_EQ(outcome.code, 0) << outcome.errors;
  const json answer = json::parse(outcome.output);
  EXPECT_EQ(answer["rows"][0]["records"], 0);
  EXPECT_EQ(answer["ignored"]["instances_masked"], 1);
}

TEST_F(BvhTest, UnknownWordsSuggestTheNearest) {
  expect_error(run_command({"bvh", trace(), "--layout", "wide8"}), 2, "'wide-8'");
  expect_error(run_command({"bvh", trace(), "--node-order", "depth-frist"}), 2, "'depth-first'");
  expect_error(run_command({"bvh", trace(), "--vertex-order", "radnom"}), 2, "'random'");
  expect_error(run_command({"bvh", trace(), "--builder", "hihg"}), 2, "'high'");
  expect_error(run_command({"bvh", trace(), "--node-order", "treelet:node=3"}), 2, "'nodes'");
  expect_error(run_command({"bvh", trace(), "--vtp-shape", "edge", "--vtp", scratch_ / "x"}), 2, "'edges'");
  expect_error(run_command({"bvh", trace(), "--compare-layout"}), 2, "'--compare-layouts'");
}

TEST_F(BvhTest, WhatDoesNotGoTogetherIsRefused) {
  expect_error(run_command({"bvh", trace(), "--launch", "0", "--tlas", "0"}), 2, "--");
  expect_error(run_command({"bvh", trace(), "--layout", "binary", "--compare-layouts"}), 2, "--");
  expect_error(run_command({"bvh", trace(), "--set", "launch=0", "--tlas", "0"}), 2, "--set launch");
  expect_error(run_command({"bvh", trace(), "--set", "bvh.layout=binary", "--compare-layouts"}), 2, "--set bvh.layout");
  expect_error(run_command({"bvh", trace(), "--compare-layouts", "--vtp", scratch_ / "x"}), 2, "one layout");
  expect_error(run_command({"bvh", trace(), "--enlarge", "-1"}), 2, "--enlarge");
  expect_error(run_command({"bvh", trace(), "--enlarge", "inf"}), 2, "--enlarge");
  expect_error(run_command({"bvh", trace(), "--layout", "compressed-wide-8", "--leaf-size", "4"}), 2, "at most 3");
  expect_error(run_command({"bvh", trace(), "--vtp", trace(), "--force"}), 2, "also an input");
}

TEST_F(BvhTest, WhatTheTraceDoesNotHaveIsSaid) {
  expect_error(run_command({"bvh", trace(), "--launch", "7"}), 2, "no launch");
  expect_error(run_command({"bvh", trace(), "--tlas", "7"}), 2, "no top-level structure");
  expect_error(run_command({"bvh", stored({})}), 6, "geometry");
  expect_error(run_command({"bvh", stored(one_triangle(), trace::kNone)}), 6, "--tlas");
  expect_error(run_command({"bvh", scratch_ / "none.rrt"}), 3, "none.rrt");
}

}  // namespace
}  // namespace rayreplay::test
