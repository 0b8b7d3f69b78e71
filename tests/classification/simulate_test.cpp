// The ground truth: hardware whose every cause is known.
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "tests/classification/traces.hpp"
#include "tests/support/launch_builder.hpp"
#include "traversal/classification/simulate.hpp"

namespace rayreplay::test {
namespace {

using traversal::Cause;
using traversal::SimulateOptions;
using traversal::Simulation;
using traversal::TestKind;

std::uint64_t at(const traversal::KindCounts& counts, TestKind kind) {
  return counts[static_cast<std::size_t>(kind)];
}

std::uint64_t truly(const Simulation& simulation, Cause cause) {
  return traversal::sum(simulation.truth.tests[static_cast<std::size_t>(cause)]);
}

Simulation run(const trace::Trace& trace, const std::string& traversal, const std::string& layout, double enlarge = 0) {
  SimulateOptions options;
  options.traversal = traversal;
  options.structure.layout = layout;
  options.structure.enlarge = enlarge;
  options.ground_truth = true;
  options.classify.enlarged_layouts = {layout};
  options.classify.enlarge = enlarge;
  Simulation simulation = traversal::simulate(trace, 0, "test", options);
  EXPECT_EQ(traversal::sum(simulation.classification.total), simulation.truth.total());
  EXPECT_GT(simulation.truth.total(), 0U);
  // What is wrong is so by rounding alone, and that is next to nothing.
  EXPECT_EQ(simulation.truth.wrong(), simulation.truth.rounding) << traversal << " " << layout;
  EXPECT_LE(simulation.truth.rounding, 2 + simulation.truth.total() / 500);
  return simulation;
}

class GroundTruth : public testing::TestWithParam<const char*> {
 protected:
  [[nodiscard]] static trace::Trace trace() {
    const std::string name = GetParam();
    return name == "spheres" ? sphere_trace(3) : mixed_trace(3, name);
  }
};

TEST_P(GroundTruth, IdealOrderOverExactBoxesMakesBaseTestsAlone) {
  const Simulation simulation = run(trace(), "ordered", "wide-8");
  EXPECT_EQ(truly(simulation, Cause::BoxBased), simulation.truth.total());
  for (const TestKind kind : {TestKind::Enlargement, TestKind::Order, TestKind::EnlargementOrOrder}) {
    EXPECT_EQ(at(simulation.classification.total, kind), 0U);
  }
  EXPECT_GT(at(simulation.classification.total, TestKind::Necessary), 0U);
}

TEST_P(GroundTruth, OnlyEnlargedBoxesMakeR2) {
  const trace::Trace traced = trace();
  for (const char* layout : {"compressed-wide-8", "quantised-6", "half-4"}) {
    const Simulation simulation = run(traced, "ordered", layout);
    EXPECT_GT(at(simulation.classification.total, TestKind::Enlargement), 0U) << layout;
    EXPECT_EQ(at(simulation.classification.total, TestKind::Order), 0U) << layout;
    EXPECT_EQ(truly(simulation, Cause::Order) + truly(simulation, Cause::Either), 0U) << layout;
  }
  const Simulation simulation = run(traced, "ordered", "wide-8", 0.05);
  EXPECT_GT(at(simulation.classification.total, TestKind::Enlargement), 0U);
  EXPECT_EQ(at(simulation.classification.total, TestKind::Order), 0U);
}

TEST_P(GroundTruth, OnlyAnotherOrderMakesR3) {
  const trace::Trace traced = trace();
  for (const char* order : {"any-order:seed=1", "any-order:seed=2", "fixed-order", "near-first"}) {
    const Simulation simulation = run(traced, order, "wide-8");
    EXPECT_GT(at(simulation.classification.total, TestKind::Order), 0U) << order;
    EXPECT_EQ(at(simulation.classification.total, TestKind::Enlargement), 0U) << order;
    EXPECT_EQ(at(simulation.classification.total, TestKind::EnlargementOrOrder), 0U) << order;
    EXPECT_GT(
        at(simulation.classification.total, TestKind::Overlap) + at(simulation.classification.total, TestKind::BoxMiss),
        0U)
        << order;
  }
}

TEST_P(GroundTruth, BothTogetherAreToldApart) {
  const trace::Trace traced = trace();
  for (const char* layout : {"compressed-wide-8", "quantised-6", "half-4"}) {
    const Simulation simulation = run(traced, "any-order:seed=3", layout);
    EXPECT_GT(at(simulation.classification.total, TestKind::Enlargement), 0U);
    EXPECT_GT(at(simulation.classification.total, TestKind::Order), 0U);
    EXPECT_LE(simulation.truth.undecided() * 20, simulation.truth.total()) << layout;
  }
}

INSTANTIATE_TEST_SUITE_P(Traces, GroundTruth, testing::Values("path", "ao", "spheres"),
                         [](const auto& trace) { return std::string(trace.param); });

TEST(Simulate, AnyHitOnlySeesLess) {
  const trace::Trace trace = mixed_trace(4, "path");
  SimulateOptions options;
  const Simulation all = traversal::simulate(trace, 0, "test", options);
  options.any_hit_only = true;
  const Simulation seen = traversal::simulate(trace, 0, "test", options);
  const auto& of_all = all.classification.split;
  const auto& of_seen = seen.classification.split;
  for (std::size_t goal = 0; goal < 2; ++goal) {
    EXPECT_EQ(of_all[goal][0], of_seen[goal][0]);
    EXPECT_LT(traversal::sum(of_seen[goal][1]), traversal::sum(of_all[goal][1]));
    EXPECT_EQ(at(of_seen[goal][1], TestKind::BoxMiss), 0U);
  }
}

TEST(Simulate, ALaunchWithoutObservedTestsCanBeSimulated) {
  LaunchBuilder launch({1, 1, 1});
  launch.thread().begin(0).miss(1);
  trace::Trace trace;
  trace.scene.geometries.resize(1);
  trace.scene.geometries[0].type = trace::GeometryType::Boxes;
  trace.scene.geometries[0].boxes = {-1, -1, 1, 1, 1, 2};
  trace.scene.blases = {{0, 1}};
  trace.scene.instances.resize(1);
  trace.launches = {launch.build()};
  const Simulation simulation = traversal::simulate(trace, 0, "test", {});
  EXPECT_EQ(at(simulation.classification.total, TestKind::BoxMiss), 1U);
}

TEST(Simulate, UnknownModelsAreNamed) {
  const trace::Trace trace = sphere_trace(2);
  SimulateOptions options;
  options.traversal = "nearfirst";
  EXPECT_THROW(static_cast<void>(traversal::simulate(trace, 0, "test", options)), Error);
  options = {};
  options.structure.layout = "wide8";
  EXPECT_THROW(static_cast<void>(traversal::simulate(trace, 0, "test", options)), Error);
}

}  // namespace
}  // namespace rayreplay::test
