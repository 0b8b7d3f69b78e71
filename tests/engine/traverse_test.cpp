// Replaying a launch's rays: agreement with what the trace recorded, sums, batches.
#include "sim/engine/stages/traversal.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "capture/trace/reader.hpp"
#include "tests/support/opened.hpp"
#include "tests/support/random_trace.hpp"

namespace rayreplay::test {
namespace {

using experiment::TraverseOptions;
using experiment::TraverseResult;
using experiment::TraverseRow;
using trace::EventKind;

trace::Trace captured(const std::string& name) {
  return trace::load(std::filesystem::path(RAYREPLAY_SOURCE_DIR) / "tests/data/h200" / name);
}

TraverseResult run(const trace::Trace& trace, const TraverseOptions& options, const std::string& packing = "identity") {
  Opened opened(trace, {"packing=" + packing});
  return experiment::traverse_launch(opened.bench, opened.experiment, options);
}

std::uint64_t count(const trace::Launch& launch, EventKind kind) {
  return static_cast<std::uint64_t>(std::ranges::count(launch.data.events.kind, kind));
}

TEST(Traverse, AgreesWithWhatAGpuFound) {
  for (const char* name : {"one-weekend.rrt", "one-weekend-ser.rrt", "bunny.rrt", "teapot-alpha.rrt"}) {
    SCOPED_TRACE(name);
    const trace::Trace trace = captured(name);
    const trace::Launch& launch = trace.launches[0];
    const TraverseResult result =
        run(trace, {.traversals = {"ordered", "near-first", "fixed-order"}, .warp_traversals = {"while-while"}});
    ASSERT_EQ(result.rows.size(), 5U);
    const TraverseRow& observed = result.rows[0];
    EXPECT_EQ(observed.rays, launch.data.rays.size());
    EXPECT_EQ(observed.procedurals, count(launch, EventKind::Intersection));
    EXPECT_EQ(observed.any_hits, count(launch, EventKind::AnyHit));
    const std::uint64_t ends = count(launch, EventKind::Miss) + count(launch, EventKind::ClosestHit);
    for (std::size_t i = 1; i < result.rows.size(); ++i) {
      const TraverseRow& row = result.rows[i];
      SCOPED_TRACE(row.traversal);
      EXPECT_EQ(row.rays, launch.data.rays.size());
      EXPECT_GE(row.compared, ends);
      // Rays through an edge may go to either side: the hardware computes in floats.
      EXPECT_GE(row.agreed * 10000, row.compared * 9999);
      EXPECT_EQ(row.bytes[0] % 256, 0U) << "nodes of wide-8 are read whole";
    }
    EXPECT_LE(result.rows[1].nodes, result.rows[3].nodes) << "the ideal order visits no more nodes than a fixed one";
    EXPECT_EQ(result.rows[4].nodes, result.rows[2].nodes) << "while-while takes near-first's steps";
    EXPECT_EQ(result.rows[4].bytes, result.rows[2].bytes);
    EXPECT_EQ(result.rows[4].steps[0].lanes, result.rows[4].nodes);
    EXPECT_LT(result.bounce_warps, launch.data.rays.size());
  }
}

TEST(Traverse, BatchesDoNotMatter) {
  const trace::Trace trace = captured("teapot-alpha.rrt");
  TraverseOptions options{.traversals = {"near-first"}, .warp_traversals = {"if-if", "speculative-while-while"}};
  std::uint64_t accesses = 0;
  std::vector<std::uint64_t> rays;
  options.accesses = [&](std::size_t row, std::span<const std::uint64_t> ray,
                         const traversal::RayRows<traversal::Access>& logged) {
    EXPECT_EQ(row, 1U);
    rays.insert(rays.end(), ray.begin(), ray.end());
    for (const traversal::Access& access : logged.rows) {
      accesses += access.bytes;
    }
  };
  const TraverseResult whole = run(trace, options);
  options.accesses = {};
  options.batch_rays = 700;
  const TraverseResult parts = run(trace, options);
  ASSERT_EQ(whole.rows.size(), parts.rows.size());
  for (std::size_t i = 0; i < whole.rows.size(); ++i) {
    EXPECT_EQ(whole.rows[i].nodes, parts.rows[i].nodes);
    EXPECT_EQ(whole.rows[i].triangles, parts.rows[i].triangles);
    EXPECT_EQ(whole.rows[i].any_hits, parts.rows[i].any_hits);
    EXPECT_EQ(whole.rows[i].bytes, parts.rows[i].bytes);
    EXPECT_EQ(whole.rows[i].steps, parts.rows[i].steps);
    EXPECT_EQ(whole.rows[i].agreed, parts.rows[i].agreed);
    EXPECT_EQ(whole.rows[i].unobserved, parts.rows[i].unobserved);
  }
  EXPECT_EQ(whole.bounce_warps, parts.bounce_warps);
  const auto& bytes = whole.rows[1].bytes;
  EXPECT_EQ(accesses, std::accumulate(bytes.begin(), bytes.end(), std::uint64_t{0}));
  std::ranges::sort(rays);
  for (std::size_t i = 0; i < rays.size(); ++i) {
    ASSERT_EQ(rays[i], i) << "every ray of the launch is told of once";
  }
  EXPECT_EQ(rays.size(), trace.launches[0].data.rays.size());
}

TEST(Traverse, PackingsChangeWarpsAndNothingElse) {
  const trace::Trace trace = captured("bunny.rrt");
  TraverseOptions options{.traversals = {"near-first"}, .warp_traversals = {"while-while"}};
  const TraverseResult identity = run(trace, options);
  const TraverseResult random = run(trace, options, "random");
  EXPECT_EQ(identity.rows[1].nodes, random.rows[1].nodes);
  EXPECT_EQ(identity.rows[2].nodes, random.rows[2].nodes);
  EXPECT_EQ(identity.rows[2].steps[0].lanes, random.rows[2].steps[0].lanes);
  EXPECT_LT(identity.rows[2].steps[0].steps, random.rows[2].steps[0].steps) << "neighbours take similar ways";
}

TEST(Traverse, WhatIsMissingIsAnError) {
  trace::Trace without = random_trace({.scene = false});
  const auto kind_of = [](const trace::Trace& trace) {
    try {
      static_cast<void>(run(trace, {.traversals = {"near-first"}}));
    } catch (const Error& error) {
      return error.kind();
    }
    return ErrorKind::Internal;
  };
  EXPECT_EQ(kind_of(without), ErrorKind::Missing);
  trace::Trace unknown = captured("bunny.rrt");
  unknown.launches[0].tlas = trace::kNone;
  EXPECT_EQ(kind_of(unknown), ErrorKind::Missing);
}

}  // namespace
}  // namespace rayreplay::test
