// Loaded values of a shader whose loads are known: their names, their order and their sums over runs.
#include "capture/profile/value_profile.hpp"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "capture/profile/merge.hpp"
#include "capture/profile/value_sums.hpp"
#include "capture/trace/validate.hpp"
#include "tests/profile/loading_shader.hpp"
#include "tests/support/error_of.hpp"

namespace rayreplay::profile {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

using Value = test::CountedValue;
using test::add_place;
using test::loading_shader;

std::vector<Value> values_of(const trace::ValueCounts& counts, std::uint32_t place) {
  std::vector<Value> values;
  for (std::size_t row = 0; row < counts.value.size(); ++row) {
    if (counts.place[row] == place) {
      values.push_back(
          {counts.value[row], counts.value_lanes[row], counts.uniform_groups[row], counts.most_lanes[row]});
    }
  }
  return values;
}

trace::Profile profile_with(bool names) {
  trace::Profile result;
  result.header.warp_size = 8;
  result.shaders = {{trace::ShaderStage::Miss, "main", "sky", loading_shader(names)}};
  add_place(result.value_counts, 4, 3, 0, 0, 0, {});
  add_place(result.value_counts, 4, 3, 2, 30, 5,
            {{0, 5, 0, 5}, {0x3F800000, 9, 0, 9}, {0x40490FDB, 5, 1, 5}, {0x7FC00001, 9, 1, 9}});
  add_place(result.value_counts, 4, 5, 0, 8, 2, {{0xBF000000, 8, 2, 8}});
  add_place(result.value_counts, 4, 7, 0, 8, 2, {{7, 4, 1, 4}, {0xFFFFFFFE, 4, 1, 4}});
  return result;
}

TEST(ValueProfile, NamesLoadsByMembersOrBindings) {
  const auto names = [](bool given) {
    std::vector<std::string> result;
    for (const ValuePlace& place : value_profile(profile_with(given), "t.rrt")) {
      result.push_back(place.name);
    }
    return result;
  };
  EXPECT_THAT(names(true), ElementsAre("table.colours[].x", "table.colours[].z", "table.scale", "Push.level"));
  EXPECT_THAT(names(false), ElementsAre("member 1[].x of binding 0/3", "member 1[].z of binding 0/3",
                                        "member 2 of binding 0/3", "member 0 of the push constants"));
}

TEST(ValueProfile, SortsValuesByExecutions) {
  const auto places = value_profile(profile_with(true), "t.rrt");
  ASSERT_EQ(places.size(), 4U);
  EXPECT_THAT(places[0].values, IsEmpty());
  EXPECT_EQ(places[1].untabled, 2U);
  EXPECT_EQ(places[2].untabled, 0U);
  std::vector<std::string> shown, uniform;
  for (const LoadedValue& value : places[1].values) {
    shown.push_back(value_text(value.bits, places[1].number));
  }
  for (const LoadedValue& value : uniform_values(places[1])) {
    uniform.push_back(value_text(value.bits, places[1].number));
  }
  EXPECT_THAT(shown, ElementsAre("1", "nan (0x7fc00001)", "0", "3.1415927"));
  EXPECT_THAT(uniform, ElementsAre("3.1415927", "nan (0x7fc00001)"));
  EXPECT_EQ(value_text(places[2].values[0].bits, places[2].number), "-0.5");
  EXPECT_EQ(value_text(places[3].values[0].bits, places[3].number), "7");
  EXPECT_EQ(value_text(places[3].values[1].bits, places[3].number), "-2");
  EXPECT_EQ(value_text(0xFFFFFFFE, NumberKind::Unsigned), "4294967294");
}

TEST(ValueProfile, NamesWhatTheModuleDoesNotHave) {
  const auto fault = [](const auto& damage) {
    trace::Profile damaged = profile_with(true);
    damage(damaged.value_counts);
    const Error error = test::error_of([&] { static_cast<void>(value_profile(damaged, "t.rrt")); });
    EXPECT_EQ(error.kind(), ErrorKind::Input);
    return std::string(error.what());
  };
  EXPECT_THAT(fault([](auto& c) { c.function[1] = 1; }), HasSubstr("t.rrt:/profile/values/function[1]"));
  EXPECT_THAT(fault([](auto& c) { c.block[0] = 1; }), HasSubstr("the function has no such block"));
  EXPECT_THAT(fault([](auto& c) { c.instruction[3] = 12; }), HasSubstr("the block has no such instruction"));
  EXPECT_THAT(fault([](auto& c) { c.instruction[3] = 6; }), HasSubstr("is no load of 32-bit numbers"));
  EXPECT_THAT(fault([](auto& c) { c.instruction[3] = 9; }), HasSubstr("is no load of 32-bit numbers"));
  EXPECT_THAT(fault([](auto& c) { c.component[3] = 1; }), HasSubstr("the loaded value has no such component"));
}

/// A run of one pipeline with one load, whose table may lack values.
profile::Run run(const std::string& hash, std::uint64_t lanes, const std::vector<Value>& values) {
  profile::Run result{hash + ".rrt", {}};
  result.profile.hash = hash;
  result.profile.header.configuration = "{}";
  result.profile.header.warp_size = 8;
  result.profile.shaders = {{trace::ShaderStage::Miss, "main", "sky", loading_shader(true)}};
  add_place(result.profile.value_counts, 0, 5, 0, lanes, lanes, values);
  return result;
}

TEST(MergedValues, AddUpAndBoundWhatATableLacks) {
  const profile::Run a = run("a", 20, {{1, 10, 2, 10}, {2, 4, 0, 4}});  // 6 lanes found no room
  const profile::Run b = run("b", 9, {{1, 3, 1, 3}, {3, 6, 6, 6}});     // all did
  const profile::Run c = run("c", 7, {{2, 2, 0, 2}});                   // 5
  const Merged all = merge({a, b, c});
  EXPECT_NO_THROW(trace::check(all.trace, "merged"));
  EXPECT_THAT(all.trace.value_counts.lanes, ElementsAre(36));
  EXPECT_EQ(values_of(all.trace.value_counts, 0), (std::vector<Value>{{1, 13, 3, 18}, {2, 6, 0, 6}, {3, 6, 6, 17}}));
  EXPECT_THAT(all.remarks, IsEmpty());
  // Runs that were merged before, in any order.
  for (const auto& [first, second, third] : {std::tuple(a, b, c), {b, c, a}, {c, a, b}}) {
    const Merged two = merge({first, second});
    profile::Run merged{"two.rrt", {two.trace.header, two.trace.shaders, {}, {}, {}, "two"}};
    merged.profile.value_counts = two.trace.value_counts;
    EXPECT_EQ(values_of(merge({third, merged}).trace.value_counts, 0), values_of(all.trace.value_counts, 0));
  }
}

TEST(MergedValues, NeedAllRuns) {
  profile::Run without = run("b", 0, {});
  without.profile.value_counts = {};
  const auto add_blocks = [](profile::Run run) {
    run.profile.block_counts = {{0}, {0}, {0}, {0}, {8}, {1}};
    return run;
  };
  const Merged merged = merge({add_blocks(run("a", 8, {{1, 8, 8, 8}})), add_blocks(without)});
  EXPECT_THAT(merged.remarks, ElementsAre("values of loads are left out: not counted in b"));
  EXPECT_EQ(merged.trace.value_counts.size(), 0U);
  EXPECT_THAT(merged.trace.block_counts.lanes, ElementsAre(16));
  const Error error = test::error_of([&] { static_cast<void>(merge({run("a", 8, {}), without})); });
  EXPECT_THAT(error.what(), HasSubstr("no counts to merge"));
  // Values alone will do.
  EXPECT_EQ(merge({run("a", 8, {}), run("b", 8, {})}).trace.value_counts.size(), 1U);
}

TEST(MergedValues, LeaveOutPlacesOfSomeRuns) {
  profile::Run more = run("b", 8, {{1, 8, 8, 8}});
  add_place(more.profile.value_counts, 0, 7, 0, 3, 1, {{5, 3, 1, 3}});
  const Merged merged = merge({run("a", 8, {{1, 8, 8, 8}}), more});
  EXPECT_THAT(
      merged.remarks,
      ElementsAre(
          "values of 1 loaded number of shader 0 (sky) in pipeline 0 are left out: not counted in all runs that have "
          "the pipeline"));
  EXPECT_THAT(merged.trace.value_counts.lanes, ElementsAre(16));
  profile::Run huge = run("c", ~std::uint64_t{0}, {});
  EXPECT_THAT(test::error_of([&] {
                static_cast<void>(merge({huge, run("d", 1, {})}));
              }).what(),
              HasSubstr("the sum of a load's executions exceeds 64 bits"));
}

}  // namespace
}  // namespace rayreplay::profile
