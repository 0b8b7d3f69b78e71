// Logs of accesses: rows that grow, blocks that join, memory that is used again.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "bvh/bvh.hpp"
#include "tests/support/meshes.hpp"
#include "tests/support/ray_scenes.hpp"
#include "traversal/traversal.hpp"

namespace rayreplay::traversal {
namespace {

TEST(AccessLog, RowsGrowAndCopy) {
  AccessRows rows;
  EXPECT_TRUE(rows.empty());
  std::vector<Access> want;
  for (std::uint32_t i = 0; i < 1000; ++i) {
    const auto kind = static_cast<AccessKind>(i % 5);
    rows.push(0x1'0000'0000ULL * i + 7, 0xFFFF'FFFFU - i, kind);
    want.push_back({0x1'0000'0000ULL * i + 7, 0xFFFF'FFFFU - i, kind});
  }
  AccessRows::put(rows.append(1), 5, 6, AccessKind::Box);
  want.push_back({5, 6, AccessKind::Box});
  EXPECT_EQ(std::vector(rows.begin(), rows.end()), want);
  AccessRows copy = rows;
  EXPECT_EQ(copy, rows);
  copy.push(1, 2, AccessKind::Node);
  EXPECT_NE(copy, rows);
  const AccessRows moved = std::move(copy);
  EXPECT_EQ(moved.size(), want.size() + 1);
  rows.clear();
  EXPECT_TRUE(rows.empty());
}

TEST(AccessLog, BlocksJoinAndMemoryIsUsedAgain) {
  const trace::Scene scene = test::random_scene({.seed = 3});
  const bvh::Bvh bvh = bvh::build_bvh(scene, 0, "test", {});
  const auto model = Traversals::create("near-first").model;
  TraceResult recycled;
  for (const std::uint32_t count : {600U, 256U, 1U, 0U, 700U}) {
    const std::vector<Ray> rays = test::random_rays(count + 1, count, true);
    const bool counters = count != 256;
    const bool tests = count == 700;
    const TraceResult fresh = model->trace(bvh, rays, {.counters = counters, .accesses = true, .tests = tests});
    recycled = model->trace(bvh, rays, {.counters = counters, .accesses = true, .tests = tests, .recycled = &recycled});
    EXPECT_EQ(recycled.hits, fresh.hits);
    EXPECT_EQ(recycled.counters, fresh.counters);
    EXPECT_EQ(recycled.accesses, fresh.accesses);
    EXPECT_EQ(recycled.tests.offset, fresh.tests.offset);
    EXPECT_EQ(recycled.tests.rows, fresh.tests.rows);
    EXPECT_EQ(recycled.ignored_rays, fresh.ignored_rays);
    const RayRows<Access> joined = fresh.accesses.joined();
    ASSERT_EQ(joined.offset.size(), count + 1);
    EXPECT_EQ(joined.rows.size(), fresh.accesses.size());
    for (std::size_t ray = 0; ray < count; ++ray) {
      EXPECT_TRUE(std::ranges::equal(joined.of(ray), fresh.accesses.of(ray)));
    }
  }
  recycled = model->trace(bvh, test::random_rays(1, 10, true), {.recycled = &recycled});
  EXPECT_EQ(recycled.accesses, AccessLog{});
  EXPECT_TRUE(recycled.tests.offset.empty() && recycled.tests.rows.empty());
}

}  // namespace
}  // namespace rayreplay::traversal
