// The ground truth: hardware whose every cause is known.
#include <algorithm>
#include <array>
#include <iterator>
#include <vector>

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "tests/classification/traces.hpp"
#include "tests/classification/twin.hpp"
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
  EXPECT_EQ(truly(simulation, Cause::Necessary) + truly(simulation, Cause::BoxMiss) + truly(simulation, Cause::Overlap),
            simulation.truth.total());
  EXPECT_GT(truly(simulation, Cause::Overlap), 0U);
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
    EXPECT_LE(simulation.truth.joint() * 20, simulation.truth.total()) << layout;
  }
}

/// Tests of the base kinds, of rays that look for their closest hit, of each ray.
std::vector<std::array<std::uint32_t, 3>> base_kinds(const trace::Trace& trace, const SimulateOptions& asked) {
  SimulateOptions options = asked;
  options.classify.per_ray = true;
  const Simulation simulation = traversal::simulate(trace, 0, "test", options);
  std::vector<std::array<std::uint32_t, 3>> result;
  const trace::Rays& rays = trace.launches[0].data.rays;
  for (std::size_t ray = 0; ray < rays.size(); ++ray) {
    if ((rays.flags[ray] & trace::kRayFlagTerminateOnFirstHit) == 0) {
      const auto& counts = simulation.classification.by_ray[ray];
      result.push_back({counts[0], counts[1], counts[2]});
    }
  }
  return result;
}

// A ray that looks for its closest hit meets all that the ideal order meets, in whatever order: as every structure
// makes those tests, the base kinds are the same. Rays that end on their first hit stop before some of them.
TEST_P(GroundTruth, BaseKindsDoNotDependOnOrderLayoutOrBuilder) {
  const trace::Trace traced = trace();
  SimulateOptions ideal;
  ideal.traversal = "ordered";
  ideal.structure.layout = "wide-8";
  const auto expected = base_kinds(traced, ideal);
  std::uint64_t overlaps = 0;
  for (const auto& counts : expected) {
    overlaps += counts[2];
  }
  EXPECT_GT(overlaps, 0U);
  for (const char* order : {"ordered", "near-first", "fixed-order", "any-order:seed=1", "any-order:seed=2"}) {
    for (const char* layout : {"wide-8", "compressed-wide-8", "quantised-6", "half-4"}) {
      for (const char* builder : {"medium", "low", "median:leaf_size=3"}) {
        SimulateOptions options;
        options.traversal = order;
        options.structure.layout = layout;
        options.structure.builder = builder;
        const auto found = base_kinds(traced, options);
        ASSERT_EQ(found.size(), expected.size());
        for (std::size_t ray = 0; ray < found.size(); ++ray) {
          ASSERT_EQ(found[ray], expected[ray]) << order << " " << layout << " " << builder << " ray " << ray;
        }
      }
    }
  }
}

/// Every `stride`th ray that looks for its closest hit, against its slow twin; how many tests were R1.
std::uint64_t compare_base_kinds(const trace::Trace& traced, std::uint64_t stride) {
  SimulateOptions options;
  options.traversal = "ordered";
  options.structure.layout = "wide-8";
  options.classify.per_ray = true;
  const Simulation simulation = traversal::simulate(traced, 0, "test", options);
  std::uint64_t overlaps = 0;
  for (const TwinBase& slow : base_tests_slowly(traced, 0, options.classify.slack, stride)) {
    if ((traced.launches[0].data.rays.flags[slow.ray] & trace::kRayFlagTerminateOnFirstHit) != 0) {
      continue;
    }
    const auto& fast = simulation.classification.by_ray[slow.ray];
    for (std::size_t kind = 0; kind < 3; ++kind) {
      EXPECT_EQ(fast[kind], slow.counts[kind]) << "ray " << slow.ray << " kind " << kind;
    }
    overlaps += slow.counts[2];
  }
  return overlaps;
}

TEST_P(GroundTruth, BaseKindsAreThoseOfTryingEveryPrimitive) {
  EXPECT_GT(compare_base_kinds(trace(), 1), 0U);
}

TEST(Simulate, BaseKindsOfCapturedRaysAreThoseOfTryingEveryPrimitive) {
  EXPECT_GT(compare_base_kinds(load_capture("teapot-alpha"), 16), 0U);
  EXPECT_GT(compare_base_kinds(load_capture("one-weekend"), 16), 0U);
}

TEST_P(GroundTruth, HoldsForEveryBuilderThatIsTold) {
  const trace::Trace traced = trace();
  std::uint64_t wrong_when_blind = 0;
  for (const char* builder :
       {"low", "median", "medium", "low:leaf_size=3", "median:leaf_size=3", "medium:leaf_size=3"}) {
    for (const char* order : {"ordered", "near-first", "any-order:seed=1"}) {
      SimulateOptions options;
      options.traversal = order;
      options.structure.layout = "quantised-6";
      options.structure.builder = builder;
      options.ground_truth = true;
      const Simulation told = traversal::simulate(traced, 0, "test", options);
      EXPECT_EQ(told.truth.wrong(), told.truth.rounding) << builder << " " << order;
      options.blind = true;
      const Simulation blind = traversal::simulate(traced, 0, "test", options);
      EXPECT_EQ(blind.truth.total(), told.truth.total());
      wrong_when_blind += blind.truth.wrong() - blind.truth.rounding;
      // A classifier that has the builder among its own models need not be told.
      options.classify.enlarged_builders = {"medium", builder};
      const Simulation guessed = traversal::simulate(traced, 0, "test", options);
      EXPECT_EQ(guessed.truth.wrong(), guessed.truth.rounding) << builder << " " << order;
    }
  }
  // The few spheres of the third trace share boxes only where the difference does not show.
  EXPECT_EQ(wrong_when_blind > 0, std::string(GetParam()) != "spheres");
}

INSTANTIATE_TEST_SUITE_P(Traces, GroundTruth, testing::Values("path", "ao", "spheres"),
                         [](const auto& trace) { return std::string(trace.param); });

TEST(GroundTruthTable, RightAndWrong) {
  using traversal::contradicts;
  EXPECT_FALSE(contradicts(Cause::Either, TestKind::EnlargementOrOrder));
  EXPECT_TRUE(contradicts(Cause::Either, TestKind::Enlargement));
  EXPECT_TRUE(contradicts(Cause::Either, TestKind::Order));
  EXPECT_FALSE(contradicts(Cause::Joint, TestKind::Order));
  EXPECT_TRUE(contradicts(Cause::Enlargement, TestKind::Order));
  EXPECT_TRUE(contradicts(Cause::Overlap, TestKind::BoxMiss));
  EXPECT_TRUE(contradicts(Cause::Necessary, TestKind::Overlap));
  EXPECT_TRUE(contradicts(Cause::BoxMiss, TestKind::EnlargementOrOrder));
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_FALSE(contradicts(static_cast<Cause>(i), static_cast<TestKind>(i)));
  }
}

TEST(GroundTruthTable, NoneForSpatialSplits) {
  const trace::Trace trace = mixed_trace(5, "path");
  SimulateOptions options;
  options.structure.builder = "high";
  EXPECT_GT(traversal::sum(traversal::simulate(trace, 0, "test", options).classification.total), 0U);
  options.ground_truth = true;
  EXPECT_THROW(static_cast<void>(traversal::simulate(trace, 0, "test", options)), Error);
}

/// The rays of a trace over a layout by lot, each candidate where it was tested first.
std::vector<std::vector<traversal::Candidate>> sequences(const trace::Trace& trace, const std::string& layout) {
  bvh::BvhOptions options;
  options.builder = "medium:branching=6,leaf_size=1";
  options.layout = layout;
  const bvh::Bvh structure = bvh::build_bvh(trace.scene, 0, "test", options);
  std::vector<traversal::Ray> rays;
  for (std::size_t row = 0; row < trace.launches[0].data.rays.size(); ++row) {
    rays.push_back(traversal::ray_of(trace.launches[0].data.rays, row));
  }
  traversal::TraceOptions wanted;
  wanted.tests = true;
  const traversal::TraceResult result =
      traversal::Traversals::create("any-order:seed=5").model->trace(structure, rays, wanted);
  std::vector<std::vector<traversal::Candidate>> sequences(rays.size());
  for (std::size_t ray = 0; ray < rays.size(); ++ray) {
    for (const traversal::PrimitiveTest& test : result.tests.of(ray)) {
      sequences[ray].push_back(test.candidate);
    }
  }
  return sequences;
}

TEST(AnyOrder, OneMoreBoxMovesNothingElse) {
  const trace::Trace trace = mixed_trace(6, "path");
  const auto exact = sequences(trace, "wide-8");
  std::size_t longest = 0;
  for (const char* layout : {"quantised-6", "compressed-wide-8"}) {
    const auto larger = sequences(trace, layout);
    for (std::size_t ray = 0; ray < exact.size(); ++ray) {
      const auto both = [](const auto& of, const auto& other) {
        std::vector<traversal::Candidate> common;
        std::copy_if(of.begin(), of.end(), std::back_inserter(common), [&](const traversal::Candidate& candidate) {
          return std::find(other.begin(), other.end(), candidate) != other.end();
        });
        return common;
      };
      const auto common = both(exact[ray], larger[ray]);
      ASSERT_EQ(common, both(larger[ray], exact[ray])) << layout << " ray " << ray;
      longest = std::max(longest, common.size());
    }
  }
  EXPECT_GT(longest, 5U);
}

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
