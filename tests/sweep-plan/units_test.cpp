#include <algorithm>
#include <map>
#include <set>

#include <gmock/gmock.h>

#include "sim/sweep/plan/units.hpp"
#include "tests/sweep-plan/sweeps.hpp"

namespace rayreplay::sweep::testing {
namespace {

using experiment::Stage;
using ::testing::Each;
using ::testing::SizeIs;

std::uint64_t results(const Plan& plan, Stage stage) {
  return plan.stages().at(static_cast<std::size_t>(stage));
}

/// Every run in exactly one unit, ascending.
void expect_partition(const Plan& plan) {
  std::vector<std::uint64_t> all;
  for (const Unit& unit : plan.units()) {
    EXPECT_FALSE(unit.runs.empty());
    EXPECT_TRUE(std::is_sorted(unit.runs.begin(), unit.runs.end()));
    all.insert(all.end(), unit.runs.begin(), unit.runs.end());
  }
  std::sort(all.begin(), all.end());
  ASSERT_THAT(all, SizeIs(plan.runs()));
  for (std::uint64_t run = 0; run < all.size(); ++run) {
    EXPECT_EQ(all[run], run);
  }
}

std::string text_at(const Plan& plan, std::uint64_t run, const std::string& key) {
  return to_text(plan.settings(run).at(key));
}

/// How many different values of the key a unit has.
std::vector<std::size_t> varieties(const Plan& plan, const std::string& key) {
  std::vector<std::size_t> found;
  for (const Unit& unit : plan.units()) {
    std::set<std::string> values;
    for (const std::uint64_t run : unit.runs) {
      values.insert(text_at(plan, run, key));
    }
    found.push_back(values.size());
  }
  return found;
}

TEST(Units, AllCachesOfAStreamAreOne) {
  const Plan plan(of(R"(
[experiment]
outputs = "cache"
[axes]
"cache.l1.bytes" = ["16KiB", "32KiB", "64KiB"]
"machine.sms" = [1, 2, 4]
"cache.l2.ways" = [2, 4]
"packing" = ["identity", "random"]
)"));
  expect_partition(plan);
  EXPECT_THAT(plan.units(), SizeIs(6));
  EXPECT_THAT(varieties(plan, "machine.sms"), Each(1U));
  EXPECT_THAT(varieties(plan, "packing"), Each(1U));
  EXPECT_THAT(varieties(plan, "cache.l1.bytes"), Each(3U));
  EXPECT_EQ(results(plan, experiment::stage("input")), 1U);
  EXPECT_EQ(results(plan, experiment::stage("structure")), 1U);
  EXPECT_EQ(results(plan, experiment::stage("assignment")), 2U);
  EXPECT_EQ(results(plan, experiment::stage("stream")), 6U);
  EXPECT_EQ(results(plan, experiment::stage("cache")), 36U);
  // Not asked for.
  EXPECT_EQ(results(plan, experiment::stage("simt")), 0U);
  EXPECT_EQ(results(plan, experiment::stage("model")), 0U);
}

TEST(Units, WhatIsInheritedMovesToo) {
  const std::string axes =
      "[axes]\n\"machine.l1_line_bytes\" = [64, 128]\n\"machine.l2_bytes\" = [\"1MiB\", \"2MiB\"]\n";
  // The machine's L2 times the stream as well.
  EXPECT_THAT(Plan(of("[experiment]\noutputs = \"cache\"\n" + axes)).units(), SizeIs(4));
  const Plan lines(of("[experiment]\noutputs = \"cache\"\n[axes]\n\"cache.l2.line_bytes\" = [64, 128]\n"));
  EXPECT_THAT(lines.units(), SizeIs(1));
  EXPECT_EQ(results(lines, experiment::stage("cache")), 2U);
  const Plan machines(
      of("[experiment]\noutputs = \"cache,simt\"\n[axes]\n\"machine.name\" = [\"rtx4090\", \"rtx3080\"]\n"));
  EXPECT_THAT(machines.units(), SizeIs(2));
  EXPECT_EQ(results(machines, experiment::stage("cache")), 2U);
  EXPECT_EQ(results(machines, experiment::stage("simt")), 1U);
}

TEST(Units, AllSchedulerModelsOfALaunchAreOne) {
  const Plan plan(of(R"(
[experiment]
outputs = "model,simt"
[axes]
"scheduler.model" = ["plain", "ser"]
"packing" = ["identity", "random", "numrays"]
)"));
  expect_partition(plan);
  EXPECT_THAT(plan.units(), SizeIs(3));
  EXPECT_THAT(varieties(plan, "scheduler.model"), Each(2U));
  EXPECT_EQ(results(plan, experiment::stage("model")), 6U);
  EXPECT_EQ(results(plan, experiment::stage("simt")), 3U);
}

TEST(Units, IndependentExperimentsAreUnitsOfTheirOwn) {
  const Plan plan(of("[axes]\npacking = [\"random\"]\n\"packing:seed\" = { from = 1, to = 256, step = 1 }\n"));
  expect_partition(plan);
  EXPECT_THAT(plan.units(), SizeIs(256));
  EXPECT_EQ(results(plan, experiment::stage("simt")), 256U);
}

TEST(Units, CheapSharingIsCutForManyWorkers) {
  const Plan plan(of("[axes]\npacking = [\"random\"]\n\"packing:seed\" = { from = 1, to = 5000, step = 1 }\n"));
  expect_partition(plan);
  EXPECT_GE(plan.units().size(), kEnoughUnits / 2);
  EXPECT_LE(plan.units().size(), 2 * kEnoughUnits);
}

TEST(Units, AreNoLargerThanAsked) {
  const Definition definition =
      of("[experiment]\noutputs = \"cache\"\n[axes]\n\"cache.l1.bytes\" = { from = \"4KiB\", "
         "to = \"400KiB\", step = \"4KiB\" }\n");
  const Plan plan(definition, {.most_unit_runs = 30});
  expect_partition(plan);
  EXPECT_THAT(plan.units(), SizeIs(4));
  for (const Unit& unit : plan.units()) {
    EXPECT_EQ(unit.runs.size(), 25U);
  }
}

TEST(Units, DepthFirst) {
  const Plan plan(of(R"(
[experiment]
outputs = "cache"
[axes]
"packing" = ["identity", "random"]
"trace" = ["a.rrt", "b.rrt"]
"machine.sms" = [1, 2]
"bvh.leaf_size" = [1, 4]
)"));
  expect_partition(plan);
  ASSERT_THAT(plan.units(), SizeIs(16));
  // No input, structure or assignment comes back after another one.
  std::vector<std::vector<std::string>> seen(3);
  std::map<std::uint64_t, std::set<std::string>> affinities;
  for (const Unit& unit : plan.units()) {
    const std::string trace = text_at(plan, unit.runs.front(), "trace");
    const std::string structure = trace + text_at(plan, unit.runs.front(), "bvh.leaf_size");
    const std::string assignment = structure + text_at(plan, unit.runs.front(), "packing");
    affinities[unit.affinity].insert(structure);
    std::size_t level = 0;
    for (const std::string& name : {trace, structure, assignment}) {
      std::vector<std::string>& names = seen[level++];
      if (names.empty() || names.back() != name) {
        EXPECT_THAT(names, ::testing::Not(::testing::Contains(name)));
        names.push_back(name);
      }
    }
  }
  EXPECT_THAT(affinities, SizeIs(4));
  for (const auto& [affinity, structures] : affinities) {
    EXPECT_THAT(structures, SizeIs(1)) << affinity;
  }
}

TEST(Units, OutputsMayBeAnAxis) {
  const Plan plan(of("[axes]\noutputs = [\"simt\", \"cache\"]\n\"cache.l1.ways\" = [1, 2]\n"));
  expect_partition(plan);
  EXPECT_THAT(varieties(plan, "outputs"), Each(1U));
  EXPECT_EQ(results(plan, experiment::stage("simt")), 1U);
  EXPECT_EQ(results(plan, experiment::stage("cache")), 2U);
}

TEST(Units, EqualValuesOfZippedAxesAreShared) {
  const Plan plan(
      of("[experiment]\noutputs = \"cache\"\n[[zip]]\n\"machine.sms\" = [1, 2, 1]\n"
         "\"cache.l1.ways\" = [1, 2, 4]\n"));
  EXPECT_THAT(plan.units(), SizeIs(2));
  EXPECT_EQ(results(plan, experiment::stage("stream")), 2U);
  EXPECT_EQ(results(plan, experiment::stage("cache")), 3U);
}

}  // namespace
}  // namespace rayreplay::sweep::testing
