// Vertex orders: bijections, small examples by hand.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "bvh/vertex_order.hpp"
#include "tests/support/random_trace.hpp"

namespace rayreplay::bvh {
namespace {

using Places = std::vector<std::uint32_t>;

trace::Geometry mesh(std::size_t vertices, const std::vector<std::uint32_t>& indices) {
  trace::Geometry geometry;
  geometry.vertices.assign(vertices * 3, 0.0F);
  geometry.indices.assign(indices.begin(), indices.end());
  return geometry;
}

Places places(const std::string& spec, const trace::Geometry& geometry) {
  return VertexOrders::create(spec).model->order(geometry);
}

TEST(VertexOrder, AllOfThemAreHere) {
  EXPECT_EQ(VertexOrders::names(), (std::vector<std::string>{"as-given", "breadth-first", "random"}));
}

TEST(VertexOrder, EveryOneIsABijection) {
  test::Random random(5);
  for (int round = 0; round < 50; ++round) {
    const std::uint32_t vertices = random.below(200);
    std::vector<std::uint32_t> indices(3 * std::size_t{random.below(150)});
    for (std::uint32_t& index : indices) {
      index = random.below(std::uint64_t{vertices} + 3);  // some out of range
    }
    const trace::Geometry geometry = mesh(vertices, indices);
    for (const std::string& name : VertexOrders::names()) {
      Places order = places(name, geometry);
      EXPECT_EQ(order, places(name, geometry)) << name;
      std::sort(order.begin(), order.end());
      Places all(vertices);
      std::iota(all.begin(), all.end(), 0U);
      ASSERT_EQ(order, all) << name;
    }
  }
}

TEST(VertexOrder, AsGivenLeavesAllWhereItIs) {
  EXPECT_EQ(places("as-given", mesh(4, {3, 1, 2})), (Places{0, 1, 2, 3}));
}

TEST(VertexOrder, RandomDependsOnItsSeedAlone) {
  const trace::Geometry geometry = mesh(100, {1, 2, 3});
  EXPECT_EQ(places("random:seed=4", geometry), places("random:seed=4", mesh(100, {})));
  EXPECT_NE(places("random:seed=4", geometry), places("random:seed=5", geometry));
  // SplitMix64 from seed 1 ranks its first four outputs 910A2DEC…, BEEB8DA1…, F893A2EE…, 71C18690… so.
  EXPECT_EQ(places("random", mesh(4, {})), (Places{1, 2, 3, 0}));
}

TEST(VertexOrder, BreadthFirstFollowsTheMesh) {
  // A strip 0-5-1-4 and, apart from it, the triangle 2 6 7; 3 belongs to none.
  const trace::Geometry geometry = mesh(8, {5, 1, 4, 0, 5, 1, 7, 2, 6});
  // From 0: its triangle gives 5, 1; then 5 gives 4. From 2: 7, 6. Last 3.
  EXPECT_EQ(places("breadth-first", geometry), (Places{0, 2, 4, 7, 3, 1, 6, 5}));
}

TEST(VertexOrder, BreadthFirstLeavesOutTrianglesThatAreNone) {
  EXPECT_EQ(places("breadth-first", mesh(4, {0, 3, 9, 0, 2, 2})), (Places{0, 2, 1, 3}));
  EXPECT_TRUE(places("breadth-first", mesh(0, {0, 1, 2})).empty());
}

}  // namespace
}  // namespace rayreplay::bvh
