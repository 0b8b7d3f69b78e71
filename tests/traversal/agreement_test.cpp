// Do all traversals find the same closest hits, bit for bit, whatever the layout, the builder, the orders and the
// number of threads, and are they those that a search without any tree finds?
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include <oneapi/tbb/global_control.h>

#include "bvh/bvh.hpp"
#include "tests/support/ray_scenes.hpp"
#include "traversal/traversal.hpp"

namespace rayreplay::traversal {
namespace {

using test::closest_of_all;
using test::random_rays;
using test::random_scene;

struct Expected {
  explicit Expected(std::uint64_t seed, bool flags = true, std::uint32_t primitives = 60, std::size_t count = 400)
      : scene(random_scene({.seed = seed, .primitives = primitives, .flags = flags})),
        prepared(bvh::prepare_scene(scene, 0, "test")),
        rays(random_rays(seed + 100, count, flags)),
        shaders(prepared, rays) {
    for (std::size_t i = 0; i < rays.size(); ++i) {
      hits.push_back(closest_of_all(prepared, i, rays[i], &shaders));
    }
  }

  trace::Scene scene;
  bvh::PreparedScene prepared;
  std::vector<Ray> rays;
  test::SphereShaders shaders;
  std::vector<Hit> hits;
};

/// Rays that end on their first hit may find any, but find one if there is one.
void expect_same(const Expected& expected, const TraceResult& result, const std::string& what) {
  ASSERT_EQ(result.hits.size(), expected.hits.size()) << what;
  for (std::size_t i = 0; i < result.hits.size(); ++i) {
    const Hit& hit = result.hits[i];
    const Hit& want = expected.hits[i];
    if (expected.rays[i].ends_on_first_hit()) {
      ASSERT_EQ(hit.found(), want.found()) << what << ", ray " << i;
    } else {
      ASSERT_EQ(hit, want) << what << ", ray " << i << ": t " << hit.t << " for " << want.t << ", primitive "
                           << hit.instance << "/" << hit.geometry << "/" << hit.primitive << " for " << want.instance
                           << "/" << want.geometry << "/" << want.primitive;
    }
  }
}

TEST(Agreement, RandomScenesHitAndMiss) {
  const Expected expected(1);
  const auto found = std::ranges::count_if(expected.hits, [](const Hit& hit) { return hit.found(); });
  EXPECT_GT(found, 60);
  EXPECT_LT(found, 340);
}

TEST(Agreement, EveryTraversalOverEveryLayout) {
  for (std::uint64_t seed = 1; seed < 7; ++seed) {
    const Expected expected(seed, seed != 2);
    std::vector<std::string> layouts = bvh::Layouts::names();
    layouts.emplace_back("quantised-6:leaves=quads");
    for (const std::string& layout : layouts) {
      const bvh::Bvh bvh = bvh::build_bvh(expected.scene, 0, "test", {.layout = layout});
      for (const std::string& name : Traversals::names()) {
        const auto result = Traversals::create(name).model->trace(bvh, expected.rays, {.shaders = &expected.shaders});
        expect_same(expected, result, layout + " " + name + " seed " + std::to_string(seed));
      }
    }
  }
}

TEST(Agreement, EveryBuilderAndOrder) {
  const Expected expected(4);
  const auto check = [&](const bvh::BvhOptions& options) {
    const bvh::Bvh bvh = bvh::build_bvh(expected.scene, 0, "test", options);
    for (const std::string name : {"near-first", "ordered"}) {
      const auto result = Traversals::create(name).model->trace(bvh, expected.rays, {.shaders = &expected.shaders});
      expect_same(expected, result, options.builder + " " + options.node_order + " " + options.vertex_order);
    }
  };
  for (const std::string& builder : bvh::Builders::names()) {
    for (const std::uint32_t leaf_size : {1U, 3U, 8U}) {
      check({.builder = builder, .leaf_size = leaf_size});
    }
    check({.builder = builder, .layout = "quantised-6:leaves=quads"});
  }
  for (const std::string& order : bvh::NodeOrders::names()) {
    check({.node_order = order});
  }
  for (const std::string& order : bvh::VertexOrders::names()) {
    check({.vertex_order = order});
  }
  for (const double enlarge : {0.01, 0.5}) {
    check({.enlarge = enlarge});
  }
}

TEST(Agreement, ParametersOfTraversals) {
  const Expected expected(5);
  const bvh::Bvh bvh = bvh::build_bvh(expected.scene, 0, "test", {.layout = "binary", .leaf_size = 2});
  for (const std::string spec : {"any-order:seed=0", "any-order:seed=77", "short-stack:entries=1",
                                 "short-stack:entries=2", "short-stack:entries=1000"}) {
    expect_same(expected, Traversals::create(spec).model->trace(bvh, expected.rays, {.shaders = &expected.shaders}),
                spec);
  }
}

TEST(Agreement, NumberOfThreadsChangesNothing) {
  const Expected expected(6, true, 30, 2500);
  const bvh::Bvh bvh = bvh::build_bvh(expected.scene, 0, "test");
  for (const std::string& name : Traversals::names()) {
    const auto trace = [&](std::size_t threads) {
      const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
      return Traversals::create(name).model->trace(bvh, expected.rays,
                                                   {.accesses = true, .tests = true, .shaders = &expected.shaders});
    };
    const TraceResult one = trace(1);
    expect_same(expected, one, name);
    for (const std::size_t threads : {2U, 5U}) {
      const TraceResult many = trace(threads);
      EXPECT_EQ(one.hits, many.hits);
      EXPECT_EQ(one.counters, many.counters);
      EXPECT_EQ(one.accesses, many.accesses);
      EXPECT_EQ(one.tests.offset, many.tests.offset);
      EXPECT_EQ(one.tests.rows, many.tests.rows);
    }
  }
}

}  // namespace
}  // namespace rayreplay::traversal
