// Two levels as a whole: trees, layout, memory map, options and their errors.
#include <cmath>
#include <limits>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <tbb/global_control.h>

#include "base/error.hpp"
#include "bvh/bvh.hpp"
#include "bvh/items.hpp"
#include "tests/bvh/tree_check.hpp"
#include "tests/support/counting_progress.hpp"
#include "tests/support/meshes.hpp"

namespace rayreplay::bvh {
namespace {

/// One structure of a box each, as procedural scenes have, and a mesh, with some that are not in use.
trace::Scene mixed_scene() {
  trace::Scene scene;
  test::Random random(3);
  for (std::uint32_t i = 0; i < 60; ++i) {
    trace::Geometry geometry;
    geometry.type = trace::GeometryType::Boxes;
    const float x = 10 * random.unit();
    const float z = 10 * random.unit();
    for (const float value : {x, 0.0F, z, x + 0.4F, 0.4F, z + 0.4F}) {
      geometry.boxes.push_back(value);
    }
    scene.geometries.push_back(geometry);
    scene.blases.push_back({i, 1});
    trace::Instance instance;
    instance.blas = i;
    instance.mask = i % 10 == 9 ? 0 : 0xFF;
    scene.instances.push_back(instance);
  }
  scene.geometries.push_back(test::bumpy_terrain(3000, 2));
  scene.geometries.push_back(test::bumpy_terrain(600, 3));
  scene.blases.push_back({60, 2});
  for (int copy = 0; copy < 3; ++copy) {
    trace::Instance instance;
    instance.blas = 60;
    instance.transform[3] = static_cast<float>(copy);
    scene.instances.push_back(instance);
  }
  return scene;
}

TEST(Bvh, TreesHoldWhatIsActive) {
  const trace::Scene scene = mixed_scene();
  const PreparedScene prepared = prepare_scene(scene, 0, "t");
  for (const char* spec : {"low", "medium", "high", "median"}) {
    const BuildLimits limits{4, 3};
    test::CountingProgress progress;
    const std::vector<Tree> trees = build_trees(prepared, *Builders::create(spec).model, limits, 0, &progress);
    ASSERT_EQ(trees.size(), 62U);
    const bool splits = std::string(spec) == "high";
    EXPECT_EQ(test::fault_of(trees[0], instance_items(prepared), limits, false), "") << spec;
    EXPECT_EQ(trees[0].references.size(), 57U);
    for (std::uint32_t blas = 0; blas < 61; ++blas) {
      if (blas % 10 == 9) {
        EXPECT_TRUE(trees[1 + blas].empty());
      } else {
        EXPECT_EQ(test::fault_of(trees[1 + blas], primitive_items(prepared, blas), limits, splits), "") << spec;
      }
    }
    EXPECT_TRUE(progress.finished);
    EXPECT_EQ(progress.done, progress.total) << spec;
    EXPECT_EQ(progress.total, 57 + 54 + prepared.blases[60].active);
  }
}

TEST(Bvh, EveryLayoutTakesEveryBuilder) {
  const trace::Scene scene = mixed_scene();
  for (const std::string& layout : Layouts::names()) {
    for (const std::string& builder : Builders::names()) {
      const Bvh bvh = build_bvh(scene, 0, "t", {.builder = builder, .layout = layout});
      EXPECT_FALSE(bvh.top.empty());
      EXPECT_FALSE(bvh.bottoms[60].empty());
      EXPECT_TRUE(bvh.bottoms[9].empty());
      EXPECT_THAT(bvh.builder, testing::HasSubstr(builder + ":branching=0,leaf_size=0"));
      EXPECT_TRUE(bvh.bottoms[60].bounds.contains(bvh.scene.blases[60].bounds));
    }
  }
}

TEST(Bvh, MemoryHasAPlaceForEverything) {
  const trace::Scene scene = mixed_scene();
  const Bvh bvh = build_bvh(scene, 0, "t", {.vertex_order = "random"});
  const MemoryMap& map = bvh.memory;
  EXPECT_EQ(map.top_nodes, 0U);
  std::uint64_t last = 0;
  const auto follows = [&](std::uint64_t place, std::uint64_t bytes) {
    EXPECT_EQ(place, last);
    EXPECT_EQ(place % 256, 0U);
    last = (place + bytes + 255) / 256 * 256;
  };
  follows(map.top_nodes, bvh.top.nodes.size());
  follows(map.instances, 64 * 63);
  for (std::size_t blas = 0; blas < 61; ++blas) {
    if (blas < 60 && blas % 10 != 9) {
      follows(map.bottom_nodes[blas], bvh.bottoms[blas].nodes.size());
      follows(map.geometries[blas].boxes, 24);
    }
  }
  follows(map.bottom_nodes[60], bvh.bottoms[60].nodes.size());
  for (const std::size_t row : {60U, 61U}) {
    follows(map.geometries[row].indices, scene.geometries[row].indices.size() * 4);
    follows(map.geometries[row].vertices, scene.geometries[row].vertices.size() * 4);
    EXPECT_EQ(map.geometries[row].vertex_place.size(), scene.geometries[row].vertices.size() / 3);
  }
  EXPECT_EQ(map.end, last);
  EXPECT_TRUE(build_bvh(scene, 0, "t").memory.geometries[60].vertex_place.empty());
}

TEST(Bvh, EnlargedLeavesAreEnlargedByThatMuch) {
  const trace::Scene scene = mixed_scene();
  const PreparedScene prepared = prepare_scene(scene, 0, "t");
  const auto builder = Builders::create("medium");
  const Tree exact = build_trees(prepared, *builder.model, {4, 2}, 0, nullptr)[61];
  const Tree large = build_trees(prepared, *builder.model, {4, 2}, 0.1, nullptr)[61];
  ASSERT_EQ(exact.children.size(), large.children.size());
  EXPECT_EQ(exact.references, large.references);
  for (std::size_t i = 0; i < exact.children.size(); ++i) {
    const Box& from = exact.children[i].box;
    const Box& to = large.children[i].box;
    EXPECT_TRUE(to.contains(from));
    if (exact.children[i].is_leaf()) {
      double diagonal = 0;
      for (unsigned k = 0; k < 3; ++k) {
        diagonal = std::hypot(diagonal, static_cast<double>(from.high[k]) - static_cast<double>(from.low[k]));
      }
      for (unsigned k = 0; k < 3; ++k) {
        EXPECT_NEAR(static_cast<double>(from.low[k]) - static_cast<double>(to.low[k]), 0.1 * diagonal, 1e-6);
        EXPECT_NEAR(static_cast<double>(to.high[k]) - static_cast<double>(from.high[k]), 0.1 * diagonal, 1e-6);
      }
    } else {
      const TreeNode& node = large.nodes[large.children[i].index];
      Box all;
      for (std::uint32_t c = 0; c < node.child_count; ++c) {
        all.extend(large.children[node.first_child + c].box);
      }
      EXPECT_EQ(all, to);
    }
  }
}

TEST(Bvh, OptionsThatDoNotFitAreErrors) {
  const trace::Scene scene = mixed_scene();
  const auto message = [&](const BvhOptions& options) {
    try {
      static_cast<void>(build_bvh(scene, 0, "t", options));
    } catch (const Error& error) {
      return std::to_string(error.exit_code()) + " " + error.what();
    }
    return std::string("no error");
  };
  using testing::HasSubstr;
  using testing::StartsWith;
  EXPECT_THAT(message({.builder = "medium:branching=8", .layout = "binary"}),
              testing::AllOf(StartsWith("2 "), HasSubstr("number of children"), HasSubstr("at most 2")));
  EXPECT_THAT(message({.layout = "compressed-wide-8", .leaf_size = 30}),
              testing::AllOf(StartsWith("2 "), HasSubstr("leaf size")));
  EXPECT_THAT(message({.builder = "medium:branching=1"}), testing::AllOf(StartsWith("2 "), HasSubstr("branching")));
  EXPECT_THAT(message({.builder = "mediun"}), HasSubstr("medium"));
  EXPECT_THAT(message({.enlarge = -1}), HasSubstr("enlarge"));
  EXPECT_THAT(message({.enlarge = std::numeric_limits<double>::quiet_NaN()}), HasSubstr("enlarge"));
  EXPECT_THAT(message({.leaf_size = 2}), "no error");
}

TEST(Bvh, LeafSizeOverridesTheBuilders) {
  const trace::Scene scene = mixed_scene();
  const Bvh bvh = build_bvh(scene, 0, "t", {.builder = "median:leaf_size=3", .layout = "wide-8", .leaf_size = 1});
  EXPECT_EQ(bvh.builder, "median:branching=0,leaf_size=1");
}

TEST(Bvh, SceneWithoutAnythingActive) {
  trace::Scene scene = mixed_scene();
  for (trace::Instance& instance : scene.instances) {
    instance.mask = 0;
  }
  const Bvh bvh = build_bvh(scene, 0, "t");
  EXPECT_TRUE(bvh.top.empty());
  EXPECT_EQ(bvh.scene.ignored.instances_masked, 63U);
  EXPECT_EQ(bvh.memory.end, 64U * 63 / 256 * 256 + 256);
}

TEST(Bvh, SameBytesForAnyNumberOfThreads) {
  const trace::Scene scene = mixed_scene();
  for (const std::string& builder : Builders::names()) {
    const Bvh expected = build_bvh(scene, 0, "t", {.builder = builder});
    for (const std::size_t threads : {1U, 3U, 8U}) {
      const tbb::global_control control(tbb::global_control::max_allowed_parallelism, threads);
      const Bvh bvh = build_bvh(scene, 0, "t", {.builder = builder});
      EXPECT_EQ(bvh.top.nodes, expected.top.nodes);
      EXPECT_EQ(bvh.bottoms[60].nodes, expected.bottoms[60].nodes);
      EXPECT_EQ(bvh.bottoms[60].references, expected.bottoms[60].references);
    }
  }
}

}  // namespace
}  // namespace rayreplay::bvh
