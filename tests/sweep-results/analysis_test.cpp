#include <cmath>
#include <limits>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "base/split_mix.hpp"
#include "sim/sweep/analysis/best.hpp"
#include "sim/sweep/analysis/dataset.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/sweep-results/rows.hpp"

namespace rayreplay::test {
namespace {

using experiment::Goal;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

TEST(Best, OrdersByGoalAndIndex) {
  const std::vector<double> values = {2, 1, kNone, 3, 1, 3};
  EXPECT_THAT(sweep::best_of(values, Goal::More, 3), ElementsAre(3, 5, 0));
  EXPECT_THAT(sweep::best_of(values, Goal::Less, 2), ElementsAre(1, 4));
  EXPECT_THAT(sweep::best_of(values, Goal::Less, 100).size(), 5);
  EXPECT_TRUE(sweep::best_of({}, Goal::Less, 1).empty());
}

/// By definition.
std::vector<std::size_t> slow_front(const std::vector<sweep::GoalColumn>& columns) {
  std::vector<std::size_t> front;
  const std::size_t rows = columns.front().values.size();
  const auto beats = [&](std::size_t a, std::size_t b) {
    bool better = false;
    for (const auto& column : columns) {
      const double sign = column.goal == Goal::More ? 1 : -1;
      const double off = sign * (column.values[a] - column.values[b]);
      if (!(off >= 0)) {
        return false;
      }
      better |= off > 0;
    }
    return better;
  };
  for (std::size_t one = 0; one < rows; ++one) {
    bool on = true;
    for (const auto& column : columns) {
      on &= !std::isnan(column.values[one]);
    }
    for (std::size_t other = 0; on && other < rows; ++other) {
      on = !beats(other, one);
    }
    if (on) {
      front.push_back(one);
    }
  }
  return front;
}

TEST(Pareto, IsWhatTheDefinitionSays) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const std::size_t rows = split_mix(seed, 0) % 60;
    const std::uint64_t range = 2 + split_mix(seed, 1) % 20;  // many equal values
    std::vector<std::vector<double>> values(3);
    std::uint64_t next = 2;
    for (auto& column : values) {
      for (std::size_t i = 0; i < rows; ++i) {
        const std::uint64_t one = split_mix(seed, next++) % range;
        column.push_back(one == 0 ? kNone : static_cast<double>(one));
      }
    }
    std::vector<sweep::GoalColumn> columns = {{values[0], Goal::More}, {values[1], Goal::Less}};
    EXPECT_EQ(sweep::pareto_front(columns), slow_front(columns)) << seed;
    columns.push_back({values[2], Goal::More});
    EXPECT_EQ(sweep::pareto_front(columns), slow_front(columns)) << seed;
  }
}

TEST(Pareto, EqualPointsStandTogether) {
  const std::vector<double> x = {1, 1, 2, 2}, y = {1, 1, 2, 0};
  const std::vector<sweep::GoalColumn> columns = {{x, Goal::Less}, {y, Goal::Less}};
  EXPECT_THAT(sweep::pareto_front(columns), ElementsAre(0, 1, 3));
}

class Data : public ::testing::Test {
 protected:
  [[nodiscard]] std::filesystem::path file() const {
    return folder_ / "s.db";
  }

 private:
  TemporaryFolder folder_;
};

TEST_F(Data, LevelsFollowValues) {
  write_made_up(file());
  const sweep::ResultsReader reader(file());
  const sweep::Dataset data = sweep::load_parameters(reader, "");
  ASSERT_EQ(data.runs.size(), kRuns - 1);
  ASSERT_EQ(data.parameters.size(), 3U);
  EXPECT_EQ(data.parameters[0].name, "cache.l1.bytes");
  EXPECT_EQ(data.parameters[0].count, 8U);
  EXPECT_EQ(data.parameters[0].levels.back(), 7U);
  EXPECT_FALSE(data.sampled);
  // One failed: a gap.
  const auto gaps = sweep::sensitivity(data.parameters, sweep::load_numbers(reader, "l1_hit_rate", "", ""), false);
  EXPECT_EQ(gaps.design, sweep::Design::Incomplete);
  // Without its associativity the rest is a full grid again; the metric is a sum.
  const std::string where = "cache.l1.ways <> 4";
  const sweep::Dataset part = sweep::load_parameters(reader, where);
  const auto whole = sweep::sensitivity(part.parameters, sweep::load_numbers(reader, "l1_hit_rate", where, ""), false);
  EXPECT_EQ(whole.design, sweep::Design::FullGrid);
  double sum = 0;
  for (const auto& parameter : whole.parameters) {
    sum += parameter.first.value();
    EXPECT_NEAR(parameter.first.value(), parameter.total.value(), 1e-9);
  }
  EXPECT_NEAR(sum, 1, 1e-9);
}

TEST_F(Data, ZippedAxesAreOneParameter) {
  // Keys with dots stand in quotes, or in tables.
  for (const char* zip :
       {"\"cache.l1.bytes\" = [1, 2]\n\"cache.l1.ways\" = [1, 2]\n", "[zip.cache.l1]\nbytes = [1, 2]\nways = [1, 2]\n",
        "cache.l1.bytes = { powers_of_two = [1, 2] }\ncache.l1.ways = [1, 2]\n"}) {
    sweep::About about = made_up_sweep();
    about.sweep = std::string("sampler = \"grid\"\n[[zip]]\n") + zip;
    about.axes = {"cache.l1.bytes", "packing", "cache.l1.ways"};
    {
      sweep::ResultsWriter writer(file(), about, true);
      for (std::uint64_t run = 0; run < kRuns; ++run) {
        if (run != 5 && run / 8 % 4 == run / 2 % 4 && run < 32) {
          writer.add({made_up_row(run)});
        }
      }
    }
    const sweep::ResultsReader reader(file());
    const sweep::Dataset data = sweep::load_parameters(reader, "");
    ASSERT_EQ(data.parameters.size(), 2U) << zip;
    EXPECT_EQ(data.parameters[0].name, "cache.l1.bytes + cache.l1.ways");
    EXPECT_EQ(data.parameters[0].count, 4U);
    EXPECT_EQ(sweep::sensitivity(data.parameters, sweep::load_numbers(reader, "l1_hit_rate", "", ""), false).design,
              sweep::Design::FullGrid);
  }
}

TEST_F(Data, GoalsAndTexts) {
  write_made_up(file());
  const sweep::ResultsReader reader(file());
  EXPECT_EQ(sweep::goal_of(reader, "l1_hit_rate"), Goal::More);
  EXPECT_EQ(sweep::goal_of(reader, "dram_bytes"), Goal::Less);
  EXPECT_THROW((void)sweep::goal_of(reader, "l1_hit_rat"), Error);
  EXPECT_THROW((void)sweep::goal_of(reader, "cache.l1.bytes"), Error);
  EXPECT_THROW((void)sweep::load_numbers(reader, "packing", "", "plot"), Error);
}

TEST_F(Data, ComparesRuns) {
  write_made_up(file());
  const sweep::ResultsReader reader(file());
  const sweep::RunComparison result = sweep::compare_runs(reader, 0, 9);
  ASSERT_EQ(result.parameters.size(), 2U);
  EXPECT_EQ(result.parameters[0].column.name, "cache.l1.bytes");
  EXPECT_EQ(result.parameters[1].column.name, "packing");
  EXPECT_EQ(result.metrics.size(), 4U);
  EXPECT_THROW((void)sweep::compare_runs(reader, 0, 64), Error);
}

}  // namespace
}  // namespace rayreplay::test
