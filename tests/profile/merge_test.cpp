// Merged profiles: of runs that agree, of runs that do not, and of profiles that cannot be merged.
#include "capture/profile/merge.hpp"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "capture/profile/shader_profile.hpp"
#include "capture/trace/validate.hpp"
#include "tests/profile/profile_maker.hpp"
#include "tests/support/error_of.hpp"

namespace rayreplay::profile {
namespace {

using test::add_branching;
using test::rows_of;
using test::two_shaders;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

/// A run of the application and another one, as if they were one run.
std::vector<test::CountRow> rows_of_both(std::uint64_t scale) {
  return rows_of(two_shaders("", scale).profile.block_counts);
}

/// The runs that the configuration names.
std::vector<std::string> runs_of(const Merged& merged) {
  return nlohmann::json::parse(merged.trace.header.configuration).at("merged_runs").get<std::vector<std::string>>();
}

TEST(MergedProfiles, OfTwoRunsAreThoseOfOneRunWithBoth) {
  const Merged merged = merge({two_shaders("b", 2), two_shaders("a", 1)});
  EXPECT_EQ(rows_of(merged.trace.block_counts), rows_of_both(3));
  EXPECT_THAT(merged.remarks, IsEmpty());
  EXPECT_EQ(merged.pipelines, 1U);
  EXPECT_EQ(merged.common_pipelines, 1U);
  EXPECT_NO_THROW(trace::check(merged.trace, "merged"));
  EXPECT_THAT(merged.trace.launches, IsEmpty());
  EXPECT_EQ(merged.trace.header.application, "app");
  EXPECT_THAT(runs_of(merged), ElementsAre("a", "b"));
  EXPECT_THAT(merged.trace.header.not_captured, ElementsAre(HasSubstr("the merged profile of 2 runs alone")));
  // Everything that is computed from counts, too.
  const auto shaders =
      shader_profiles({merged.trace.shaders, merged.trace.block_counts, merged.trace.header.warp_size}, "merged");
  ASSERT_THAT(shaders, SizeIs(2));
  EXPECT_EQ(shaders[0].entries, 300U);
  EXPECT_EQ(shaders[1].entries, 3000U);
}

/// The driver's facts of pipeline 0, with an any-hit shader that no run counts.
void add_facts(profile::Run& run, std::uint64_t registers, std::uint32_t set_stack = 0) {
  run.profile.shaders.push_back({trace::ShaderStage::AnyHit, "main", "glass", {}});
  trace::PipelineFacts& facts = run.profile.pipeline_facts.emplace_back();
  facts.recursion_depth = 2;
  facts.dynamic_stack = true;
  facts.set_stack = set_stack;
  facts.groups.resize(3);
  facts.groups[0].general = 0;
  facts.groups[0].general_bytes = 96;
  facts.groups[1].general = 1;
  facts.groups[1].general_bytes = 16;
  facts.groups[2].any_hit = 2;
  facts.groups[2].any_hit_bytes = 8;
  facts.executables = {{"main", "", 0x800, 32, {{"Register Count", "", trace::StatisticFormat::Uint64, registers}}}};
}

TEST(MergedProfiles, KeepWhatTheDriverSaysOnce) {
  profile::Run a = two_shaders("a", 1), b = two_shaders("b", 2), c = two_shaders("c", 3);
  add_facts(a, 72, 512);
  add_facts(b, 72, 4096);
  const Merged merged = merge({a, b, c});
  EXPECT_THAT(merged.remarks, IsEmpty());
  ASSERT_THAT(merged.trace.pipeline_facts, SizeIs(1));
  const trace::PipelineFacts& facts = merged.trace.pipeline_facts[0];
  EXPECT_EQ(facts.set_stack, 4096U) << "the largest, as over the launches of a run";
  EXPECT_EQ(facts.executables, a.profile.pipeline_facts[0].executables);
  ASSERT_THAT(merged.trace.shaders, SizeIs(3)) << "with the shader that is in a group alone";
  EXPECT_EQ(merged.trace.shaders[facts.groups[2].any_hit].name, "glass");
  EXPECT_EQ(merged.trace.shaders[facts.groups[0].general].name, "sky");
  EXPECT_NO_THROW(trace::check(merged.trace, "merged"));
  const Merged other_order = merge({c, b, a});
  EXPECT_EQ(other_order.trace.pipeline_facts, merged.trace.pipeline_facts);
}

TEST(MergedProfiles, LeaveOutWhatDriversDisagreeOn) {
  profile::Run a = two_shaders("a", 1), b = two_shaders("b", 2), c = two_shaders("c", 2);
  add_facts(a, 72);
  add_facts(b, 80);
  add_facts(c, 72);
  const Merged merged = merge({a, b, c});
  EXPECT_THAT(merged.trace.pipeline_facts, IsEmpty());
  EXPECT_THAT(merged.remarks, ElementsAre("what the driver says of pipeline 0 is left out: the runs disagree"));
  EXPECT_THAT(merged.reasons, ElementsAre("facts of pipeline 0: runs a and b disagree: 'Register Count' of executable "
                                          "'main' is 72 and 80"));
  EXPECT_THAT(merged.trace.header.not_captured, Contains(merged.remarks[0]));
  const auto remark = [&](const auto& change) {
    profile::Run other = two_shaders("b", 2);
    add_facts(other, 72);
    change(other.profile.pipeline_facts[0]);
    return merge({a, other}).reasons.at(0);
  };
  using Facts = trace::PipelineFacts;
  EXPECT_THAT(remark([](Facts& facts) { facts.recursion_depth = 3; }), HasSubstr("the recursion depth is 2 and 3"));
  EXPECT_THAT(remark([](Facts& facts) { facts.dynamic_stack = false; }), HasSubstr("dynamic in one of them"));
  EXPECT_THAT(remark([](Facts& facts) { facts.groups[1].general_bytes = 17; }), HasSubstr("of group 1 differ"));
  EXPECT_THAT(remark([](Facts& facts) { facts.groups.pop_back(); }), HasSubstr("3 and 2 shader groups"));
  EXPECT_THAT(remark([](Facts& facts) { facts.executables.clear(); }), HasSubstr("1 and 0 executables"));
  EXPECT_THAT(remark([](Facts& facts) { facts.executables[0].subgroup_size = 8; }), HasSubstr("'main' differs"));
}

bool same(const trace::Trace& a, const trace::Trace& b) {
  return rows_of(a.block_counts) == rows_of(b.block_counts) && a.header.not_captured == b.header.not_captured &&
         a.header.configuration == b.header.configuration && a.header.application == b.header.application &&
         std::ranges::equal(a.shaders, b.shaders, [](const trace::Shader& x, const trace::Shader& y) {
           return x.stage == y.stage && x.entry == y.entry && x.name == y.name && x.spirv == y.spirv;
         });
}

TEST(MergedProfiles, DoNotDependOnTheOrderOfTheRuns) {
  std::vector<profile::Run> runs = {two_shaders("a", 1), two_shaders("b", 2), two_shaders("c", 5)};
  runs[1].profile.header.application = "app with options";
  runs[1].profile.header.not_captured = {"something"};
  // Another number, another order, and a pipeline of its own.
  profile::Run& other = runs[2];
  std::swap(other.profile.shaders[0], other.profile.shaders[1]);
  other.profile.shaders.push_back({trace::ShaderStage::Miss, "main", "night", test::branching_shader(3)});
  other.profile.block_counts = {};
  add_branching(other.profile.block_counts, 0, 2, 1);
  add_branching(other.profile.block_counts, 7, 0, 50);
  add_branching(other.profile.block_counts, 7, 1, 5);
  const Merged first = merge(runs);
  std::vector<std::size_t> order = {0, 1, 2};
  do {
    EXPECT_TRUE(same(merge({runs[order[0]], runs[order[1]], runs[order[2]]}).trace, first.trace));
  } while (std::ranges::next_permutation(order).found);
  std::vector<test::CountRow> expected = rows_of_both(8);
  trace::BlockCounts night;
  add_branching(night, 1, 2, 1);
  std::ranges::copy(rows_of(night), std::back_inserter(expected));
  EXPECT_EQ(rows_of(first.trace.block_counts), expected);
  EXPECT_THAT(first.remarks, ElementsAre("pipeline 1 (night) is in 1 of 3 runs alone: c"));
  EXPECT_EQ(first.trace.header.application, "app; app with options");
  EXPECT_THAT(first.trace.header.not_captured, Contains("run b: something"));
}

TEST(MergedProfiles, OfMergedProfilesAreThoseOfAllRuns) {
  const Merged two = merge({two_shaders("a", 1), two_shaders("b", 2)});
  const profile::Run merged{"ab.rrt", {two.trace.header, two.trace.shaders, two.trace.block_counts, {}, {}, "ab"}};
  const Merged all = merge({merged, two_shaders("c", 5)});
  EXPECT_EQ(rows_of(all.trace.block_counts), rows_of_both(8));
  EXPECT_THAT(runs_of(all), ElementsAre("a", "b", "c"));
  EXPECT_THAT(test::message_of(ErrorKind::Input,
                               [&] {
                                 return merge({merged, two_shaders("b", 2)});
                               }),
              HasSubstr("one run would count twice"));
}

TEST(MergedProfiles, KeepAlikeShadersAndPipelinesApartByTheirNumbers) {
  const auto run = [](const std::string& hash, std::uint64_t scale) {
    profile::Run made = two_shaders(hash, 1);
    made.profile.shaders[1] = made.profile.shaders[0];
    made.profile.block_counts = {};
    add_branching(made.profile.block_counts, 3, 0, scale);
    add_branching(made.profile.block_counts, 3, 1, 2 * scale);
    add_branching(made.profile.block_counts, 5, 0, 3 * scale);
    add_branching(made.profile.block_counts, 6, 0, 4 * scale);
    return made;
  };
  const Merged merged = merge({run("a", 1), run("b", 10)});
  // The same rows under dense numbers: {0}, {0}, {0, 1} for 5, 6, 3.
  trace::BlockCounts expected;
  add_branching(expected, 0, 0, 33);
  add_branching(expected, 1, 0, 44);
  add_branching(expected, 2, 0, 11);
  add_branching(expected, 2, 1, 22);
  EXPECT_EQ(rows_of(merged.trace.block_counts), rows_of(expected));
  EXPECT_THAT(merged.remarks, IsEmpty());
}

TEST(MergedProfiles, NeedTheSameStageEntryAndWords) {
  const auto differs = [](const auto& change) {
    profile::Run other = two_shaders("b", 1);
    change(other.profile.shaders[1]);
    // The pipeline of both has the other shader; one more has the changed one.
    profile::Run run = two_shaders("a", 1);
    for (profile::Run* one : {&run, &other}) {
      one->profile.block_counts = {};
      add_branching(one->profile.block_counts, 0, 0, 1);
      add_branching(one->profile.block_counts, 1, 1, 1);
    }
    const Merged merged = merge({run, other});
    return merged.trace.shaders.size() == 3 && merged.common_pipelines == 1 && merged.remarks.size() == 2;
  };
  EXPECT_TRUE(differs([](trace::Shader& s) { s.stage = trace::ShaderStage::Callable; }));
  EXPECT_TRUE(differs([](trace::Shader& s) { s.entry = "other"; }));
  EXPECT_TRUE(differs([](trace::Shader& s) { s.spirv[2] = 9; }));
  EXPECT_FALSE(differs([](trace::Shader& s) { s.name = "other"; }));
}

TEST(MergedProfiles, LeaveOutFunctionsThatARunDoesNotCount) {
  profile::Run less = two_shaders("b", 1);
  for (auto* column : {&less.profile.block_counts.lanes, &less.profile.block_counts.groups}) {
    column->pop_back();
  }
  less.profile.block_counts.pipeline.pop_back();
  less.profile.block_counts.shader.pop_back();
  less.profile.block_counts.function.pop_back();
  less.profile.block_counts.block.pop_back();
  const Merged merged = merge({two_shaders("a", 1), less});
  EXPECT_EQ(merged.trace.block_counts.size(), 9U);
  EXPECT_THAT(
      merged.remarks,
      ElementsAre("function 1 of shader 1 (ground) in pipeline 0 is left out: not counted, with the same blocks, "
                  "in all runs that have the pipeline"));
  EXPECT_THAT(merged.reasons, ElementsAre("function 1 of shader 1 in pipeline 0: 1 of 2 profiles counts it"));
}

TEST(MergedProfiles, LeaveOutFunctionsOfOtherBlocks) {
  profile::Run less = two_shaders("b", 1);
  less.profile.block_counts.block[9] = 1;
  EXPECT_THAT(merge({two_shaders("a", 1), less}).reasons,
              ElementsAre("function 1 of shader 1 in pipeline 0: its blocks differ between the profiles"));
}

TEST(MergedProfiles, HaveNoGroupsIfARunHasNone) {
  profile::Run without = two_shaders("b", 1);
  without.profile.block_counts.groups.clear();
  const Merged merged = merge({two_shaders("a", 1), without});
  EXPECT_THAT(merged.trace.block_counts.groups, IsEmpty());
  EXPECT_THAT(merged.remarks, ElementsAre("groups of lanes are left out: not counted in b"));
}

TEST(MergedProfiles, RefuseWhatCannotBeAdded) {
  const auto fault = [](const auto& change) {
    profile::Run other = two_shaders("b", 1);
    change(other);
    return test::message_of(ErrorKind::Input, [&] { return merge({two_shaders("a", 1), other}); });
  };
  EXPECT_THAT(fault([](profile::Run& run) { run.profile.block_counts = {}; }),
              HasSubstr("b.rrt: the trace has no counts to merge"));
  EXPECT_THAT(fault([](profile::Run& run) { run.profile.header.warp_size = 4; }), HasSubstr("b.rrt:/warp_size"));
  EXPECT_THAT(fault([](profile::Run& run) { run.profile.hash = "a"; }), HasSubstr("one run would count twice"));
  EXPECT_THAT(fault([](profile::Run& run) { run.profile.block_counts.lanes[3] = ~std::uint64_t{0}; }),
              HasSubstr("b.rrt:/profile/blocks/lanes[3]"));
  const std::string nothing = fault([](profile::Run& run) {
    for (trace::Shader& shader : run.profile.shaders) {
      shader.spirv[2] += 10;
    }
  });
  EXPECT_THAT(nothing, HasSubstr("the runs have no pipeline in common"));
}

TEST(MergedProfiles, TakeConfigurationsOfAnyText) {
  for (const char* text : {"", "{", "[]", R"({"merged_runs":7})", R"({"merged_runs":[]})", R"({"merged_runs":[1]})"}) {
    profile::Run run = two_shaders("a", 1);
    run.profile.header.configuration = text;
    EXPECT_THAT(runs_of(merge({run, two_shaders("b", 1)})), ElementsAre("a", "b")) << text;
  }
}

}  // namespace
}  // namespace rayreplay::profile
