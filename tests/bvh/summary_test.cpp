// Summaries of built structures: figures by hand, sums, and what quantised layouts cost.
#include <gtest/gtest.h>

#include "bvh/decoded_tree.hpp"
#include "bvh/reports/summary.hpp"
#include "tests/support/meshes.hpp"
#include "tests/support/random_tree.hpp"

namespace rayreplay::bvh {
namespace {

struct Built {
  std::vector<Tree> trees;
  Bvh bvh;
};

Built build(const trace::Scene& scene, const std::string& layout, const std::string& builder = "medium") {
  Built built;
  BvhOptions options;
  options.builder = builder;
  options.layout = layout;
  options.trees = &built.trees;
  built.bvh = build_bvh(scene, 0, "t", options);
  return built;
}

/// A unit box, as it is and one further along x; a second structure that nothing uses.
trace::Scene two_boxes() {
  trace::Scene scene;
  trace::Geometry box;
  box.type = trace::GeometryType::Boxes;
  for (const float value : {0.F, 0.F, 0.F, 1.F, 1.F, 1.F}) {
    box.boxes.push_back(value);
  }
  scene.geometries = {box, box};
  scene.blases = {{0, 1}, {1, 1}};
  scene.instances.resize(2);
  scene.instances[1].transform = {1, 0, 0, 1, 0, 1, 0, 0, 0, 0, 1, 0};
  return scene;
}

TEST(Summary, ByHand) {
  const trace::Scene scene = two_boxes();
  const Built built = build(scene, "wide-8", "medium:leaf_size=1");
  const BvhSummary summary = summarise(built.bvh, built.trees);
  // Half areas: 5 around both, 3 each. A node costs 1.2, a reference 1.
  EXPECT_NEAR(summary.top.quality.sah, 1.2 + 2 * 0.6, 1e-5);
  ASSERT_EQ(summary.bottoms.size(), 1U);
  EXPECT_EQ(summary.bottoms[0].blas, 0U);
  EXPECT_EQ(summary.bottoms[0].instances, 2U);
  EXPECT_EQ(summary.bottoms[0].primitives, 1U);
  EXPECT_NEAR(summary.bottoms[0].quality.sah, 2.2, 1e-12);
  EXPECT_NEAR(summary.all_bottoms.quality.sah, 2 * 0.6 * 2.2, 1e-5);
  EXPECT_NEAR(summary.all.quality.sah, 2.4 + 2.64, 1e-5);
  EXPECT_EQ(summary.top.instances, 2U);
  EXPECT_EQ(summary.all.instances, 2U);
  EXPECT_EQ(summary.all.primitives, 1U);
  EXPECT_EQ(summary.all.records, 2U);
  EXPECT_EQ(summary.all.bytes, 512U);
  EXPECT_EQ(summary.all.depth, 2U);
  EXPECT_EQ(summary.all.quality.leaves, 3U);
  EXPECT_EQ(summary.all.quality.references, 3U);
  EXPECT_EQ(summary.all.mean_leaf(), 1);
  EXPECT_EQ(summary.all.quality.mean_children, 1.5);
  EXPECT_EQ(summary.top.quality.rays, 0U);
}

TEST(Summary, InstancesShareTheRaysOut) {
  const trace::Scene scene = two_boxes();
  const Built built = build(scene, "wide-8", "medium:leaf_size=1");
  // Up through x = 0.5 (instance 0 alone) and x = 1.5 (instance 1 alone), by turns.
  std::vector<QualityRay> rays;
  for (int i = 0; i < 10; ++i) {
    rays.push_back({{i % 2 == 0 ? 0.5F : 1.5F, 0.5F, -5}, {0, 0, 1}, 0, 100});
  }
  SummaryOptions options;
  options.rays = rays;
  const BvhSummary summary = summarise(built.bvh, built.trees, options);
  // Ray i goes to instance i mod 2, which it meets: in object space all are the same.
  EXPECT_EQ(summary.bottoms[0].quality.rays, 10U);
  EXPECT_EQ(summary.bottoms[0].quality.mean_leaves, 1);
  EXPECT_EQ(summary.bottoms[0].quality.lcv, 0);
  EXPECT_EQ(summary.top.quality.rays, 10U);
  EXPECT_EQ(summary.top.quality.mean_leaves, 1);
}

TEST(Summary, QuantisedLayoutsCostMore) {
  const trace::Scene scene = test::one_mesh(test::bumpy_terrain(20'000, 3));
  for (const std::string& name : Layouts::names()) {
    const Built built = build(scene, name);
    SummaryOptions options;
    options.random_lines = 200;
    const BvhSummary summary = summarise(built.bvh, built.trees, options);
    const LevelSummary& mesh = summary.bottoms.at(0);
    EXPECT_EQ(mesh.primitives, mesh.quality.items);
    EXPECT_EQ(mesh.quality.rays, 200U);
    EXPECT_EQ(mesh.bytes, mesh.records * built.bvh.traits.node_bytes);
    if (built.bvh.traits.quantised) {
      EXPECT_GT(mesh.layout_sah, mesh.quality.sah) << name;
      EXPECT_LT(mesh.layout_sah, mesh.quality.sah * 1.1) << name;
    } else {
      EXPECT_EQ(mesh.layout_sah, mesh.quality.sah) << name;
    }
    EXPECT_EQ(mesh.records, mesh.quality.nodes + (name == "quantised-6" ? mesh.quality.leaves : 0)) << name;
  }
}

TEST(Summary, AnEmptySceneHasNothing) {
  trace::Scene scene = two_boxes();
  scene.instances[0].mask = 0;
  scene.instances[1].mask = 0;
  const Built built = build(scene, "wide-8");
  SummaryOptions options;
  options.random_lines = 10;
  const BvhSummary summary = summarise(built.bvh, built.trees, options);
  EXPECT_EQ(summary.bottoms.size(), 0U);
  EXPECT_EQ(summary.all.records, 0U);
  EXPECT_EQ(summary.all.quality.sah, 0);
  EXPECT_EQ(summary.all.depth, 0U);
}

TEST(DecodedTree, EncodesToTheSameBytes) {
  for (const std::string name : {"binary", "wide-4", "wide-8"}) {
    const auto layout = Layouts::create(name).model;
    const auto order = NodeOrders::create("depth-first").model;
    for (std::uint64_t seed = 1; seed < 20; ++seed) {
      const Tree tree = test::random_tree({.seed = seed, .nodes = 200, .width = layout->traits().width, .max_leaf = 9});
      const Level level = layout->encode(tree, *order);
      const Level again = layout->encode(decoded_tree(*layout, level), *order);
      EXPECT_EQ(level.nodes, again.nodes) << name;
      EXPECT_EQ(level.references, again.references) << name;
      EXPECT_EQ(level.bounds, again.bounds) << name;
    }
  }
}

TEST(DecodedTree, HasTheBoxesThatTraversalsTest) {
  const auto layout = Layouts::create("half-4").model;
  const Box box{.low = {-1e6F, 0.3F, 0}, .high = {1e6F, 0.4F, 1}};
  const Tree tree{{{0, 1}}, {{box, 0, 1}}, {0}, box};
  const Tree decoded = decoded_tree(*layout, layout->encode(tree, *NodeOrders::create("depth-first").model));
  EXPECT_EQ(decoded.children[0].box.low[0], -1e6F) << "infinite planes move to the bounds";
  EXPECT_EQ(decoded.children[0].box.high[0], 1e6F);
  EXPECT_LT(decoded.children[0].box.low[1], 0.3F);
  EXPECT_GT(decoded.children[0].box.high[1], 0.4F);
  EXPECT_TRUE(decoded_tree(*layout, {}).empty());
}

}  // namespace
}  // namespace rayreplay::bvh
