// Sums of counts whose parts are known.
#include "capture/profile/count_sums.hpp"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/profile/profile_maker.hpp"
#include "tests/support/error_of.hpp"

namespace rayreplay::profile {
namespace {

using test::CountRow;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

trace::BlockCounts counts_of(std::vector<CountRow> rows) {
  trace::BlockCounts counts;
  for (const CountRow& row : rows) {
    test::add_row(counts, row);
  }
  return counts;
}

TEST(CountSums, AddUpEachShaderOverItsPipelines) {
  const trace::BlockCounts counts = counts_of(
      {{1, 0, 0, 0, 10, 5}, {1, 0, 0, 1, 4, 2}, {1, 2, 0, 0, 7, 1}, {4, 0, 0, 0, 100, 50}, {4, 0, 0, 1, 8, 1}});
  const SumOverPipelines sum = sum_over_pipelines(counts, std::nullopt, "t.rrt");
  EXPECT_THAT(test::rows_of(sum.counts),
              ElementsAre(CountRow{0, 0, 0, 0, 110, 55}, CountRow{0, 0, 0, 1, 12, 3}, CountRow{0, 2, 0, 0, 7, 1}));
  EXPECT_THAT(sum.pipelines.at(0), ElementsAre(1, 4));
  EXPECT_THAT(sum.pipelines.at(2), ElementsAre(1));
  EXPECT_THAT(sum.left_out, IsEmpty());
  const SumOverPipelines one = sum_over_pipelines(counts, 4, "t.rrt");
  EXPECT_THAT(test::rows_of(one.counts), ElementsAre(CountRow{0, 0, 0, 0, 100, 50}, CountRow{0, 0, 0, 1, 8, 1}));
  EXPECT_THAT(test::rows_of(sum_over_pipelines(counts, 3, "t.rrt").counts), IsEmpty());
}

TEST(CountSums, LeaveOutFunctionsThatNotAllPartsCount) {
  const trace::BlockCounts counts = counts_of({{0, 0, 0, 0, 10, 5},
                                               {0, 0, 1, 0, 9, 9},
                                               {0, 0, 2, 0, 3, 3},
                                               {1, 0, 0, 0, 1, 1},
                                               {1, 0, 2, 0, 3, 3},
                                               {1, 0, 2, 1, 3, 3}});
  const SumOverPipelines sum = sum_over_pipelines(counts, std::nullopt, "t.rrt");
  EXPECT_THAT(test::rows_of(sum.counts), ElementsAre(CountRow{0, 0, 0, 0, 11, 6}));
  ASSERT_EQ(sum.left_out.size(), 2U);
  EXPECT_EQ(sum.left_out[0].function, 1U);
  EXPECT_EQ(sum.left_out[0].counted, 1U);
  EXPECT_EQ(sum.left_out[0].parts, 2U);
  EXPECT_EQ(sum.left_out[1].function, 2U);  // other blocks
}

TEST(CountSums, HaveGroupsIfAllPartsDo) {
  const trace::BlockCounts with = counts_of({{0, 0, 0, 0, 10, 5}});
  trace::BlockCounts without = with;
  without.groups.clear();
  CountSums sums;
  sums.add(0, 0, with, {0, 1}, "a.rrt");
  EXPECT_EQ(sums.sums().groups.size(), 1U);
  sums.add(0, 0, without, {0, 1}, "b.rrt");
  EXPECT_EQ(sums.sums().groups.size(), 0U);
  EXPECT_THAT(sums.sums().lanes, ElementsAre(20));
}

TEST(CountSums, NameTheRowThatDoesNotFit) {
  constexpr std::uint64_t kHalf = std::uint64_t{1} << 63;
  const auto fault = [](std::uint64_t lanes, std::uint64_t groups) {
    const trace::BlockCounts counts = counts_of({{0, 0, 0, 0, kHalf, kHalf}, {1, 0, 0, 0, lanes, groups}});
    return test::message_of(ErrorKind::Input, [&] { return sum_over_pipelines(counts, std::nullopt, "t.rrt"); });
  };
  EXPECT_THAT(fault(kHalf, 1), HasSubstr("t.rrt:/profile/blocks/lanes[1]"));
  EXPECT_THAT(fault(1, kHalf), HasSubstr("t.rrt:/profile/blocks/groups[1]"));
  const trace::BlockCounts most = counts_of({{0, 0, 0, 0, kHalf, 1}, {1, 0, 0, 0, kHalf - 1, 1}});
  EXPECT_THAT(sum_over_pipelines(most, std::nullopt, "t.rrt").counts.lanes, ElementsAre(2 * (kHalf - 1) + 1));
}

}  // namespace
}  // namespace rayreplay::profile
