// Do the sums agree with each other and with the events, whatever the number of threads?
#include <gtest/gtest.h>

#include <tbb/global_control.h>

#include "tests/classification/traces.hpp"
#include "tests/support/random_trace.hpp"
#include "traversal/classification/classify.hpp"

namespace rayreplay::test {
namespace {

using traversal::Classification;
using traversal::ClassifyOptions;
using traversal::KindCounts;
using traversal::kTestKinds;

Classification full(const trace::Trace& trace) {
  ClassifyOptions options;
  options.per_ray = true;
  options.per_test = true;
  return traversal::classify(trace, 0, "test", options);
}

void add(KindCounts& total, const auto& counts) {
  for (std::size_t kind = 0; kind < kTestKinds; ++kind) {
    total[kind] += counts[kind];
  }
}

void expect_sums(const trace::Trace& trace, const Classification& result) {
  KindCounts threads{};
  KindCounts rays{};
  KindCounts objects{};
  KindCounts tests{};
  KindCounts split{};
  for (const auto& counts : result.by_thread) {
    add(threads, counts);
  }
  for (const auto& counts : result.by_ray) {
    add(rays, counts);
  }
  for (const auto& object : result.by_object) {
    add(objects, object.counts);
  }
  for (const auto& test : result.tests) {
    ++tests[static_cast<std::size_t>(test.kind)];
  }
  for (const auto& goal : result.split) {
    add(split, goal[0]);
    add(split, goal[1]);
  }
  EXPECT_EQ(threads, result.total);
  EXPECT_EQ(rays, result.total);
  EXPECT_EQ(objects, result.total);
  EXPECT_EQ(tests, result.total);
  EXPECT_EQ(split, result.total);
  const auto& launch = trace.launches[0];
  EXPECT_EQ(result.by_thread.size(), launch.size.threads());
  EXPECT_EQ(result.by_ray.size(), launch.data.rays.size());
  for (std::size_t i = 1; i < result.tests.size(); ++i) {
    ASSERT_LT(result.tests[i - 1].event, result.tests[i].event);
  }
  for (std::size_t i = 1; i < result.by_object.size(); ++i) {
    const auto& a = result.by_object[i - 1];
    const auto& b = result.by_object[i];
    ASSERT_LT(std::tie(a.instance, a.geometry, a.primitive), std::tie(b.instance, b.geometry, b.primitive));
  }
}

TEST(Classify, SumsAgreeOnTracesOfTheTracer) {
  for (const char* integrator : {"path", "ao"}) {
    const trace::Trace trace = mixed_trace(5, integrator);
    const Classification result = full(trace);
    expect_sums(trace, result);
    // In these traces the grammar leaves no doubt what a test is.
    const auto& events = trace.launches[0].data.events;
    std::uint64_t expected = 0;
    std::uint64_t any_hits = 0;
    for (std::size_t e = 0; e < events.size(); ++e) {
      const bool of_report = e > 0 && events.kind[e - 1] == trace::EventKind::ReportIntersection &&
                             events.instance[e - 1] == events.instance[e] &&
                             events.geometry[e - 1] == events.geometry[e] &&
                             events.primitive[e - 1] == events.primitive[e];
      const bool any_hit = events.kind[e] == trace::EventKind::AnyHit;
      expected += events.kind[e] == trace::EventKind::Intersection || (any_hit && !of_report) ? 1U : 0U;
      any_hits += any_hit ? 1U : 0U;
    }
    EXPECT_EQ(traversal::sum(result.total), expected);
    EXPECT_EQ(result.any_hit_calls, any_hits);
    EXPECT_GT(any_hits, 0U);
    // The tracer never enlarges a box (docs/reference-tracer.md).
    EXPECT_EQ(result.total[static_cast<std::size_t>(traversal::TestKind::Enlargement)], 0U);
    EXPECT_EQ(result.total[static_cast<std::size_t>(traversal::TestKind::BeforeTMin)], 0U);
    EXPECT_EQ(result.inactive_tests, 0U);
  }
}

TEST(Classify, SumsAgreeOnRandomEvents) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    RandomTraceOptions options;
    options.seed = seed;
    options.geometry = true;
    options.ray = seed % 2 == 0;
    const trace::Trace trace = random_trace(options);
    expect_sums(trace, full(trace));
  }
}

TEST(Classify, SumsAgreeOnCapturesOfAGpu) {
  for (const std::string& name : captures()) {
    const trace::Trace trace = load_capture(name);
    expect_sums(trace, full(trace));
  }
}

TEST(Classify, SumsAgreeOnRaysThatLeaveBoxes) {
  const trace::Trace trace = leaving_trace(5);
  expect_sums(trace, full(trace));
}

TEST(Classify, TheRaysThatLeaveTheGroundAreNoEnlargement) {
  // One Weekend on an H200: rays that start in the ground's box and are out of it at t_min (docs/unnecessary-tests.md).
  const KindCounts total = full(load_capture("one-weekend")).total;
  EXPECT_EQ(total[static_cast<std::size_t>(traversal::TestKind::BeforeTMin)], 942U);
  EXPECT_EQ(total[static_cast<std::size_t>(traversal::TestKind::Enlargement)], 24U);
}

TEST(Classify, TheMetricIsTheUnnecessaryAnyHits) {
  // Where every any-hit call is a triangle's, ReRay's metric is the sum of the unnecessary kinds.
  const trace::Trace trace = load_capture("teapot-alpha");
  const Classification result = full(trace);
  EXPECT_EQ(result.any_hit_calls, traversal::sum(result.total));
  EXPECT_EQ(result.any_hits_beyond, traversal::beyond(result.total));
  EXPECT_GT(result.any_hits_beyond, 0U);
}

TEST(Classify, TheSameWhateverTheNumberOfThreads) {
  const trace::Trace trace = mixed_trace(6, "path");
  const Classification many = full(trace);
  const tbb::global_control one(tbb::global_control::max_allowed_parallelism, 1);
  const Classification single = full(trace);
  EXPECT_EQ(many.total, single.total);
  EXPECT_EQ(many.by_thread, single.by_thread);
  EXPECT_EQ(many.by_ray, single.by_ray);
  EXPECT_EQ(many.by_object, single.by_object);
  ASSERT_EQ(many.tests.size(), single.tests.size());
  for (std::size_t i = 0; i < many.tests.size(); ++i) {
    ASSERT_EQ(many.tests[i].kind, single.tests[i].kind);
    ASSERT_EQ(std::isnan(many.tests[i].t_enter), std::isnan(single.tests[i].t_enter));
  }
}

}  // namespace
}  // namespace rayreplay::test
