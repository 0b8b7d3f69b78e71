// Each rule of MODELS.md §8 on scenes small enough to see the answer: boxes along the z axis, rays from the origin.
#include <gtest/gtest.h>

#include <limits>

#include "base/error.hpp"
#include "tests/support/launch_builder.hpp"
#include "traversal/classification/classify.hpp"
#include "traversal/classification/simulate.hpp"

namespace rayreplay::test {
namespace {

using traversal::Classification;
using traversal::classify;
using traversal::ClassifyOptions;
using traversal::simulate;
using traversal::TestKind;

// Box i is [-1, 1]² × [near, far]; instance 0 of the scene holds them all in geometry 0.
trace::Geometry boxes(const std::vector<std::pair<float, float>>& ranges) {
  trace::Geometry geometry;
  geometry.type = trace::GeometryType::Boxes;
  for (const auto& [near, far] : ranges) {
    for (const float x : {-1.0F, -1.0F, near, 1.0F, 1.0F, far}) {
      geometry.boxes.push_back(x);
    }
  }
  return geometry;
}

/// Triangles across the z axis at these distances.
trace::Geometry triangles(const std::vector<float>& distances, bool opaque) {
  trace::Geometry geometry;
  geometry.opaque = opaque;
  for (const float z : distances) {
    for (const float x : {-3.0F, -3.0F, z, 3.0F, -3.0F, z, 0.0F, 3.0F, z}) {
      geometry.vertices.push_back(x);
    }
    for (int corner = 0; corner < 3; ++corner) {
      geometry.indices.push_back(static_cast<std::uint32_t>(geometry.indices.size()));
    }
  }
  return geometry;
}

trace::Trace trace_of(std::vector<trace::Geometry> geometries, const trace::Launch& launch) {
  trace::Trace trace;
  trace.scene.blases = {{0, static_cast<std::uint32_t>(geometries.size())}};
  trace.scene.geometries = std::move(geometries);
  trace.scene.instances.resize(1);
  trace.launches = {launch};
  return trace;
}

std::vector<TestKind> kinds_of(const trace::Trace& trace, ClassifyOptions options = {}) {
  options.per_test = true;
  const Classification result = classify(trace, 0, "test", options);
  std::vector<TestKind> kinds;
  for (const auto& test : result.tests) {
    kinds.push_back(test.kind);
  }
  EXPECT_EQ(traversal::sum(result.total), kinds.size());
  return kinds;
}

using Kinds = std::vector<TestKind>;

TEST(Rules, EachKindOnce) {
  LaunchBuilder launch({1, 1, 1});
  launch.thread()
      .begin(0)
      .intersection(1, 0, 0)  // hit at 2: the closest
      .report(1, 0, 0, 2)
      .intersection(1, 0, 1)  // entered at 1, not hit
      .intersection(1, 0, 2)  // entered at 1.5, hit at 4
      .report(1, 0, 2, 4, false)
      .intersection(1, 0, 3)  // beside the ray
      .intersection(1, 0, 4)  // entered at 6
      .closest_hit(2, 0, 0, 2);
  trace::Trace trace = trace_of({boxes({{1.5F, 3}, {1, 1.2F}, {1.5F, 5}, {1, 2}, {6, 7}})}, launch.build());
  trace.scene.geometries[0].boxes[3 * 6] = 0.5F;  // the fourth starts at x = 0.5
  EXPECT_EQ(kinds_of(trace),
            (Kinds{TestKind::Necessary, TestKind::BoxMiss, TestKind::Overlap, TestKind::Enlargement, TestKind::Order}));
  // Enlarged by a fifth of its diagonal of 3 the last box starts at 5.4; by 1.5 of it before 2.
  ClassifyOptions options;
  options.enlarged_layouts.clear();
  options.enlarge = 0.2;
  EXPECT_EQ(kinds_of(trace, options).back(), TestKind::Order);
  options.enlarge = 1.5;
  EXPECT_EQ(kinds_of(trace, options).back(), TestKind::EnlargementOrOrder);
}

TEST(Rules, WithoutAHitEveryBoxIsInReach) {
  LaunchBuilder launch({1, 1, 1});
  launch.thread().begin(0).intersection(1, 0, 0).intersection(1, 0, 1).miss(2);
  EXPECT_EQ(kinds_of(trace_of({boxes({{1, 2}, {500, 600}})}, launch.build())),
            (Kinds{TestKind::BoxMiss, TestKind::BoxMiss}));
}

TEST(Rules, IgnoredCandidatesAreNecessaryInFrontAndNeverTheClosest) {
  LaunchBuilder launch({1, 1, 1});
  launch.thread()
      .begin(0)
      .any_hit(1, 0, 0, 1)
      .ignore(1)
      .any_hit(1, 0, 2, 3)
      .any_hit(1, 0, 1, 2)
      .closest_hit(2, 0, 1, 2);
  EXPECT_EQ(kinds_of(trace_of({triangles({1, 2, 3}, false)}, launch.build())),
            (Kinds{TestKind::Necessary, TestKind::Order, TestKind::Necessary}));
}

TEST(Rules, TheSameCandidateTwiceIsTwoTests) {
  LaunchBuilder launch({1, 1, 1});
  launch.thread().begin(0).any_hit(1, 0, 0, 1).any_hit(1, 0, 0, 1).closest_hit(2, 0, 0, 1);
  EXPECT_EQ(kinds_of(trace_of({triangles({1}, false)}, launch.build())),
            (Kinds{TestKind::Necessary, TestKind::Necessary}));
}

TEST(Rules, AReportsOwnAnyHitIsNoTest) {
  LaunchBuilder launch({1, 1, 1});
  launch.thread().begin(0).intersection(1, 0, 0).report(1, 0, 0, 2, false).any_hit(3, 0, 0, 2).ignore(3).miss(2);
  const trace::Trace trace = trace_of({boxes({{1, 3}})}, launch.build());
  EXPECT_EQ(kinds_of(trace), (Kinds{TestKind::Necessary}));
  const Classification result = classify(trace, 0, "test");
  EXPECT_EQ(result.any_hit_calls, 1U);
  EXPECT_EQ(result.any_hits_beyond, 0U);
}

TEST(Rules, ReportsOutsideTheRaysIntervalAreNoHits) {
  LaunchBuilder launch({1, 1, 1});
  launch.thread()
      .begin(0)
      .intersection(1, 0, 0)
      .report(1, 0, 0, -1, false)
      .report(1, 0, 0, 2e4F, false)
      .report(1, 0, 0, std::numeric_limits<float>::quiet_NaN(), false)
      .miss(2);
  EXPECT_EQ(kinds_of(trace_of({boxes({{1, 3}})}, launch.build())), (Kinds{TestKind::BoxMiss}));
}

TEST(Rules, FirstHitRaysAreReplayedToTheClosest) {
  // The hardware took the hit at 3 and ended. In order it would have met the one at 1 (ignored), then the one at 2.
  LaunchBuilder launch({2, 1, 1});
  launch.thread().occlusion_begin(0).any_hit(1, 0, 2, 3);
  launch.thread().occlusion_begin(0).any_hit(1, 0, 0, 1).ignore(1).any_hit(1, 0, 1, 2);
  trace::Trace trace = trace_of({triangles({1, 2, 3}, false)}, launch.build());
  for (auto& flags : trace.launches[0].data.rays.flags) {
    flags |= trace::kRayFlagTerminateOnFirstHit;
  }
  // Nobody knows what any-hit would have said of 1 and 2 for the first ray: triangles count as accepted.
  EXPECT_EQ(kinds_of(trace), (Kinds{TestKind::Order, TestKind::Necessary, TestKind::Necessary}));
  ClassifyOptions options;
  options.per_ray = true;
  const Classification result = classify(trace, 0, "test", options);
  EXPECT_EQ(result.t_star, (std::vector<float>{1, 2}));
  EXPECT_EQ(result.replayed_rays, 2U);
  EXPECT_EQ(result.unobserved, 1U);
  EXPECT_EQ(result.assumed_rays, 1U);   // the first: its t* is that of the triangle at 1
  EXPECT_EQ(result.assumed_tests, 1U);  // and its one test is R3 for that reason alone
  EXPECT_EQ(result.split[1][1][0], 2U);
  EXPECT_EQ(result.split[1][1][4], 1U);
}

TEST(Rules, OpaqueTrianglesAreFoundByTheReplay) {
  // No closest-hit shader and no miss shader: only the replay can know the opaque triangle at 2.
  LaunchBuilder launch({1, 1, 1});
  launch.thread().begin(0).any_hit(1, 0, 0, 4);
  std::vector<trace::Geometry> geometries;
  geometries.push_back(triangles({4}, false));
  geometries.push_back(triangles({2}, true));
  const trace::Trace trace = trace_of(std::move(geometries), launch.build());
  EXPECT_EQ(kinds_of(trace), (Kinds{TestKind::Order}));
  // No any-hit shader could have ignored it.
  EXPECT_EQ(classify(trace, 0, "test", {}).assumed_rays, 0U);
}

TEST(Rules, EventsOfOtherRaysMayStandBetween) {
  LaunchBuilder launch({1, 1, 1});
  launch.thread()
      .begin(0)
      .intersection(1, 0, 0)
      .report(1, 0, 0, 2)
      .begin(0)
      .intersection(1, 0, 0)
      .closest_hit(2, 0, 0, 2)
      .miss(2);
  trace::Trace trace = trace_of({boxes({{1, 3}})}, launch.build());
  for (const std::uint32_t ray : {0U, 0U, 0U, 1U, 1U, 0U, 1U}) {
    trace.launches[0].data.events.ray.push_back(ray);
  }
  ClassifyOptions options;
  options.per_ray = true;
  const Classification result = classify(trace, 0, "test", options);
  EXPECT_EQ(result.t_star, (std::vector<float>{2, std::numeric_limits<float>::infinity()}));
  EXPECT_EQ(result.by_ray[0][0], 1U);
  EXPECT_EQ(result.by_ray[1][1], 1U);
}

TEST(Rules, InstancesCountFromTheLaunchsStructure) {
  LaunchBuilder launch({1, 1, 1});
  launch.thread().begin(0).intersection(1, 0, 0).miss(2);
  trace::Trace trace = trace_of({boxes({{1, 3}})}, launch.build());
  trace.scene.instances.resize(2);
  trace.scene.instances[0].transform[3] = 50;  // the first structure's box lies beside the ray
  trace.scene.tlases = {{0, 1}, {1, 1}};
  EXPECT_EQ(kinds_of(trace), (Kinds{TestKind::Enlargement}));
  trace.launches[0].tlas = 1;
  EXPECT_EQ(kinds_of(trace), (Kinds{TestKind::BoxMiss}));
}

TEST(Rules, InactivePrimitivesHaveNoBox) {
  LaunchBuilder launch({1, 1, 1});
  launch.thread().begin(0).intersection(1, 0, 0).intersection(1, 0, 1).miss(2);
  trace::Trace trace = trace_of({boxes({{1, 3}, {1, 3}})}, launch.build());
  trace.scene.geometries[0].boxes[0] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(kinds_of(trace), (Kinds{TestKind::Enlargement, TestKind::BoxMiss}));
  const Classification result = classify(trace, 0, "test");
  EXPECT_EQ(result.inactive_tests, 1U);
  EXPECT_EQ(result.ignored.boxes_not_finite, 1U);
  trace.scene.instances[0].mask = 0;
  EXPECT_EQ(classify(trace, 0, "test").inactive_tests, 2U);
}

TEST(Rules, RaysThatCannotBeTraversed) {
  LaunchBuilder launch({1, 1, 1});
  launch.thread().begin(0, 0, 0, 0, 0, 0, 0).intersection(1, 0, 0).miss(2);
  const Classification result = classify(trace_of({boxes({{1, 3}})}, launch.build()), 0, "test");
  EXPECT_EQ(result.ignored_rays, 1U);
  EXPECT_EQ(result.total[0], 1U);
  // Counted without a test of theirs, too, and when a traversal plays the hardware.
  LaunchBuilder untested({1, 1, 1});
  untested.thread().begin(0).intersection(1, 0, 0).miss(2).begin(0, 0, 0, 0, 0, 0, 0).miss(2);
  const trace::Trace trace = trace_of({boxes({{1, 3}})}, untested.build());
  EXPECT_EQ(classify(trace, 0, "test").ignored_rays, 1U);
  EXPECT_EQ(simulate(trace, 0, "test", {}).classification.ignored_rays, 1U);
}

TEST(Rules, WhatTMaxTellsIsUsedOnlyWhereTheHardwareCulls) {
  // The second box lies behind the hit at 2, which the hardware knew when it tested: t_max was 2.
  LaunchBuilder launch({1, 1, 1});
  launch.thread().begin(0).intersection(1, 0, 0).report(1, 0, 0, 2).intersection(1, 0, 1, 2).closest_hit(2, 0, 0, 2);
  const trace::Trace trace = trace_of({boxes({{1, 3}, {3, 4}})}, launch.build());
  ClassifyOptions options;
  options.enlarged_layouts.clear();
  options.enlarge = 1;
  EXPECT_EQ(kinds_of(trace, options).back(), TestKind::EnlargementOrOrder);
  EXPECT_EQ(classify(trace, 0, "test", options).late_tests, 1U);
  options.culls = true;
  EXPECT_EQ(kinds_of(trace, options).back(), TestKind::Enlargement);
}

ErrorKind error_of(const trace::Trace& trace, std::uint32_t launch = 0) {
  try {
    static_cast<void>(classify(trace, launch, "test"));
  } catch (const Error& error) {
    EXPECT_FALSE(error.info().what.empty());
    return error.kind();
  }
  return ErrorKind::Internal;
}

TEST(Rules, WhatIsMissingIsSaid) {
  LaunchBuilder launch({1, 1, 1});
  launch.thread().begin(0).intersection(1, 0, 0).miss(2);
  const trace::Trace good = trace_of({boxes({{1, 3}})}, launch.build());
  EXPECT_EQ(error_of(good, 1), ErrorKind::Usage);
  trace::Trace trace = good;
  trace.scene = {};
  EXPECT_EQ(error_of(trace), ErrorKind::Missing);
  trace = good;
  trace.launches[0].tlas = trace::kNone;
  EXPECT_EQ(error_of(trace), ErrorKind::Missing);
  LaunchBuilder untested({1, 1, 1});
  untested.thread().begin(0).miss(2);
  EXPECT_EQ(error_of(trace_of({boxes({{1, 3}})}, untested.build())), ErrorKind::Missing);
}

}  // namespace
}  // namespace rayreplay::test
