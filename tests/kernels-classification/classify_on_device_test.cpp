// Do `classify` and `simulate` give the same with a device as without: every number?
#include <algorithm>
#include <bit>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/accelerator.hpp"
#include "tests/classification/traces.hpp"
#include "tests/support/accelerator.hpp"
#include "tests/support/random_trace.hpp"
#include "traversal/classification/simulate.hpp"

namespace rayreplay::test {
namespace {

using traversal::Classification;
using traversal::ClassifyOptions;
using traversal::SimulateOptions;
using traversal::Simulation;

const StageRecord& record_of(const Accelerator& used, const std::string& stage = "classification") {
  const auto found = std::find_if(used.records().begin(), used.records().end(),
                                  [&](const StageRecord& record) { return record.stage == stage; });
  if (found == used.records().end()) {
    throw std::runtime_error("the stage left no record");
  }
  return *found;
}

void expect_equal(const Classification& found, const Classification& expected) {
  EXPECT_EQ(found.total, expected.total);
  EXPECT_EQ(found.split, expected.split);
  EXPECT_EQ(found.by_thread, expected.by_thread);
  EXPECT_EQ(found.by_ray, expected.by_ray);
  EXPECT_EQ(found.by_object, expected.by_object);
  ASSERT_EQ(found.t_star.size(), expected.t_star.size());
  for (std::size_t i = 0; i < found.t_star.size(); ++i) {
    ASSERT_EQ(std::bit_cast<std::uint32_t>(found.t_star[i]), std::bit_cast<std::uint32_t>(expected.t_star[i]));
  }
  ASSERT_EQ(found.tests.size(), expected.tests.size());
  for (std::size_t i = 0; i < found.tests.size(); ++i) {
    ASSERT_EQ(found.tests[i].event, expected.tests[i].event);
    ASSERT_EQ(found.tests[i].ray, expected.tests[i].ray);
    ASSERT_EQ(found.tests[i].kind, expected.tests[i].kind) << "test " << i;
    ASSERT_EQ(std::bit_cast<std::uint32_t>(found.tests[i].t_enter),
              std::bit_cast<std::uint32_t>(expected.tests[i].t_enter))
        << "test " << i;
  }
  EXPECT_EQ(found.any_hit_calls, expected.any_hit_calls);
  EXPECT_EQ(found.any_hits_beyond, expected.any_hits_beyond);
  EXPECT_EQ(found.rays, expected.rays);
  EXPECT_EQ(found.tested_rays, expected.tested_rays);
  EXPECT_EQ(found.ignored_rays, expected.ignored_rays);
  EXPECT_EQ(found.replayed_rays, expected.replayed_rays);
  EXPECT_EQ(found.unobserved, expected.unobserved);
  EXPECT_EQ(found.assumed_rays, expected.assumed_rays);
  EXPECT_EQ(found.assumed_tests, expected.assumed_tests);
  EXPECT_EQ(found.inactive_tests, expected.inactive_tests);
  EXPECT_EQ(found.late_tests, expected.late_tests);
  EXPECT_EQ(found.ignored, expected.ignored);
  EXPECT_EQ(found.slack, expected.slack);
  EXPECT_EQ(found.enlarged, expected.enlarged);
}

void expect_same_classification(const trace::Trace& trace, ClassifyOptions options, Accelerator& used) {
  options.accelerator = nullptr;
  const Classification expected = traversal::classify(trace, 0, "test", options);
  options.accelerator = &used;
  expect_equal(traversal::classify(trace, 0, "test", options), expected);
  EXPECT_GT(traversal::sum(expected.total), 0U);
}

void expect_same_simulation(const trace::Trace& trace, SimulateOptions options, Accelerator& used) {
  options.classify.accelerator = nullptr;
  const Simulation expected = traversal::simulate(trace, 0, "test", options);
  options.classify.accelerator = &used;
  const Simulation found = traversal::simulate(trace, 0, "test", options);
  expect_equal(found.classification, expected.classification);
  EXPECT_EQ(found.truth.tests, expected.truth.tests);
  EXPECT_EQ(found.truth.rounding, expected.truth.rounding);
  EXPECT_EQ(found.traversal, expected.traversal);
  EXPECT_EQ(found.builder, expected.builder);
  EXPECT_EQ(found.layout, expected.layout);
  EXPECT_GT(traversal::sum(expected.classification.total), 0U);
}

TEST(ClassifyOnDevice, BuiltInTracer) {
  const auto used = open_accelerator();
  ClassifyOptions options;
  for (const bool details : {false, true}) {
    options.per_test = details;
    options.per_ray = details;
    options.culls = details;
    expect_same_classification(mixed_trace(1, "path"), options, *used);
    expect_same_classification(mixed_trace(2, "ao"), options, *used);
    options.enlarged_layouts.clear();
    expect_same_classification(sphere_trace(3), options, *used);
  }
  EXPECT_EQ(record_of(*used).reason, "");
  EXPECT_EQ(record_of(*used).device, used->devices()[0]->name());
  // The replay of rays whose t* no shader told.
  EXPECT_EQ(record_of(*used, "traversal").device, used->devices()[0]->name());
}

TEST(ClassifyOnDevice, RaysThatLeaveBoxes) {
  const auto used = open_accelerator();
  ClassifyOptions options;
  options.per_test = true;
  options.per_ray = true;
  for (const std::uint64_t seed : {1U, 2U}) {
    options.slack = seed == 1 ? 8 : 0;
    expect_same_classification(leaving_trace(seed), options, *used);
  }
}

TEST(ClassifyOnDevice, CapturesOfAGpu) {
  const auto used = open_accelerator();
  ClassifyOptions options;
  options.per_test = true;
  for (const std::string& name : captures()) {
    SCOPED_TRACE(name);
    expect_same_classification(load_capture(name), options, *used);
  }
}

TEST(ClassifyOnDevice, RandomEvents) {
  const auto used = open_accelerator();
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    SCOPED_TRACE(seed);
    RandomTraceOptions random;
    random.seed = seed;
    random.size = {16, 8, 1};
    random.geometry = seed % 2 == 0;
    random.ray = seed % 3 == 0;
    const trace::Trace trace = random_trace(random);
    if (trace.launches[0].tlas != trace::kNone) {
      ClassifyOptions options;
      options.per_test = true;
      options.per_ray = true;
      options.slack = seed % 4 == 0 ? 0 : 8;
      expect_same_classification(trace, options, *used);
    }
  }
}

TEST(ClassifyOnDevice, Simulations) {
  const auto used = open_accelerator();
  SimulateOptions options;
  options.traversal = "any-order:seed=3";
  options.structure.layout = "compressed-wide-8";
  for (const bool truth : {false, true}) {
    options.ground_truth = truth;
    options.classify.per_ray = truth;
    options.any_hit_only = !truth;
    expect_same_simulation(mixed_trace(4, "path"), options, *used);
    expect_same_simulation(sphere_trace(5), options, *used);
  }
}

TEST(ClassifyOnDevice, FallsBackWhereTheDeviceIsLost) {
  const trace::Trace trace = mixed_trace(1, "path");
  const Classification expected = traversal::classify(trace, 0, "test");
  for (const bool required : {false, true}) {
    kernels::DeviceOptions lossy;
    lossy.lose_at_submission = 3;
    const auto used = open_accelerator(1, required, lossy);
    ClassifyOptions options;
    options.accelerator = used.get();
    if (required) {
      EXPECT_THROW(static_cast<void>(traversal::classify(trace, 0, "test", options)), DeviceError);
      continue;
    }
    expect_equal(traversal::classify(trace, 0, "test", options), expected);
    EXPECT_EQ(record_of(*used).device, "CPU");
    EXPECT_NE(record_of(*used).reason, "");
  }
}

TEST(ClassifyOnDevice, FallsBackWhereTheDeviceHasTooLittleMemory) {
  const trace::Trace trace = mixed_trace(1, "path");
  kernels::DeviceOptions little;
  little.memory_limit = std::uint64_t{64} << 10U;
  const auto used = open_accelerator(1, false, little);
  ClassifyOptions options;
  options.per_test = true;
  expect_same_classification(trace, options, *used);
  EXPECT_EQ(record_of(*used).device, "CPU");
  EXPECT_NE(record_of(*used).reason, "");
}

TEST(ClassifyOnDevice, SaysWhyItRanOnTheProcessor) {
  const auto used = open_accelerator(1, false);
  ClassifyOptions options;
  options.slack = 0x1p25;
  expect_same_classification(sphere_trace(3), options, *used);
  EXPECT_EQ(record_of(*used).device, "CPU");
  EXPECT_EQ(record_of(*used).reason, "the slack is above 2^24");
}

}  // namespace
}  // namespace rayreplay::test
