#include <algorithm>
#include <map>
#include <set>

#include <gmock/gmock.h>

#include "base/draws.hpp"
#include "sim/sweep/samplers/draws.hpp"
#include "sim/sweep/samplers/sampler.hpp"
#include "tests/sweep-plan/sweeps.hpp"

namespace rayreplay::sweep::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

std::vector<Point> points(
    const std::string& sampler, const std::vector<std::uint64_t>& sizes,
    const std::function<bool(const Point&)>& keep = [](const Point&) { return true; }) {
  std::vector<Point> found;
  Samplers::create(sampler).model->sample({sizes}, [&](const Point& point) {
    if (keep(point)) {
      found.push_back(point);
      return true;
    }
    return false;
  });
  return found;
}

std::vector<std::vector<std::uint32_t>> choices(const std::vector<Point>& drawn) {
  std::vector<std::vector<std::uint32_t>> result;
  for (const Point& point : drawn) {
    result.push_back(point.choice);
  }
  return result;
}

TEST(Random, WholeNumbersOfARangeAreDrawnOnce) {
  const auto drawn = [](const std::string& range, int count) {
    const Plan plan(of("sampler = \"random:count=" + std::to_string(count) + "\"\n[axes]\n\"machine.sms\" = " + range +
                       "\npolicy = [\"stage-majority\", \"min-shader\"]\n"));
    std::set<std::vector<std::string>> different;
    for (const auto& row : rows(plan)) {
      EXPECT_TRUE(different.insert(row).second) << row.front();
    }
    return different.size();
  };
  EXPECT_EQ(drawn("{ from = 1, to = 50 }", 90), 90U);
  EXPECT_EQ(drawn("{ from = 1, to = 8 }", 100), 16U);
  EXPECT_EQ(drawn("{ from = 1, to = 8, scale = \"log\" }", 16), 16U);
}

TEST(Draws, AreTheSameEverywhere) {
  EXPECT_THAT(permutation(1, 8), ElementsAre(4, 3, 7, 0, 1, 5, 6, 2));
  EXPECT_EQ(unit_number(0), 0.0);
  EXPECT_EQ(unit_number(~std::uint64_t{0}), 1 - 0x1p-53);
  EXPECT_EQ(bounded(~std::uint64_t{0}, 7), 6U);
  EXPECT_EQ(bounded(0, 7), 0U);
}

TEST(Samplers, AreTheSameEverywhere) {
  EXPECT_THAT(
      choices(points("random:count=5,seed=3", {4, 5})),
      ElementsAre(ElementsAre(0, 3), ElementsAre(3, 2), ElementsAre(0, 0), ElementsAre(1, 1), ElementsAre(3, 3)));
  EXPECT_THAT(
      choices(points("latin-hypercube:count=5,seed=3", {5, 2})),
      ElementsAre(ElementsAre(4, 0), ElementsAre(3, 1), ElementsAre(2, 1), ElementsAre(1, 0), ElementsAre(0, 1)));
  const std::vector<Point> numbers = points("random:count=2,seed=3", {0});
  EXPECT_EQ(numbers.at(0).number.at(0), 0x1.799bfb392d431p-1);
  EXPECT_EQ(numbers.at(1).number.at(0), 0x1.764349e91e90cp-2);
}

TEST(Grid, TakesEveryPointOnce) {
  const auto all = choices(points("grid", {2, 3, 4}));
  EXPECT_THAT(all, SizeIs(24));
  EXPECT_TRUE(std::is_sorted(all.begin(), all.end()));
  EXPECT_EQ(std::set(all.begin(), all.end()).size(), 24U);
}

TEST(Random, NeverTwiceOnAGrid) {
  for (const std::vector<std::uint64_t>& sizes : {std::vector<std::uint64_t>{10, 20, 30}, {2000, 3000}}) {
    const auto drawn = choices(points("random:count=500,seed=9", sizes));
    EXPECT_THAT(drawn, SizeIs(500));
    EXPECT_EQ(std::set(drawn.begin(), drawn.end()).size(), 500U);
    EXPECT_NE(drawn, choices(points("random:count=500,seed=10", sizes)));
    // More of the same seed goes on.
    auto more = choices(points("random:count=600,seed=9", sizes));
    more.resize(500);
    EXPECT_EQ(drawn, more);
  }
}

TEST(Random, TakesASmallGridWhole) {
  auto drawn = choices(points("random:count=100", {3, 4}));
  std::sort(drawn.begin(), drawn.end());
  EXPECT_EQ(drawn, choices(points("grid", {3, 4})));
}

TEST(Random, ReplacesWhatIsDropped) {
  const auto even = [](const Point& point) { return point.choice[0] % 2 == 0; };
  EXPECT_THAT(points("random:count=50", {20, 20}, even), SizeIs(50));
  EXPECT_THAT(points("random:count=50", {2000, 2000}, even), SizeIs(50));
  // No more than there are.
  EXPECT_THAT(points("random:count=50", {4, 4}, even), SizeIs(8));
  EXPECT_THAT(message_of([] {
                static_cast<void>(points("random:count=3", {0, 7}, [](const Point&) { return false; }));
              }),
              ::testing::HasSubstr("0 of 100300 draws"));
}

TEST(Random, DrawsEvenly) {
  std::vector<int> counts(10);
  double sum = 0;
  const std::vector<Point> drawn = points("random:count=20000,seed=2", {10, 0});
  for (const Point& point : drawn) {
    ++counts.at(point.choice[0]);
    sum += point.number[1];
    EXPECT_GE(point.number[1], 0);
    EXPECT_LT(point.number[1], 1);
  }
  for (const int count : counts) {
    EXPECT_NEAR(count, 2000, 250);
  }
  EXPECT_NEAR(sum / 20000, 0.5, 0.02);
}

TEST(LatinHypercube, EachAxisIsStratified) {
  constexpr std::uint64_t kCount = 37;
  for (const char* const seed : {"1", "2", "3"}) {
    const auto drawn = points(std::string("latin-hypercube:count=37,seed=") + seed, {0, 5, 0, 37, 100});
    ASSERT_THAT(drawn, SizeIs(kCount));
    std::set<int> first;
    std::set<int> second;
    std::map<std::uint32_t, int> five;
    std::set<std::uint32_t> equal;
    std::set<std::uint32_t> hundred;
    std::set<std::uint32_t> tenths;
    for (const Point& point : drawn) {
      first.insert(static_cast<int>(point.number[0] * kCount));
      second.insert(static_cast<int>(point.number[2] * kCount));
      ++five[point.choice[1]];
      equal.insert(point.choice[3]);
      hundred.insert(point.choice[4]);
      tenths.insert(point.choice[4] / 10);
    }
    EXPECT_THAT(first, SizeIs(kCount));
    EXPECT_THAT(second, SizeIs(kCount));
    EXPECT_THAT(five, SizeIs(5));
    for (const auto& [value, count] : five) {
      EXPECT_TRUE(count == 7 || count == 8) << value << ": " << count;
    }
    EXPECT_THAT(equal, SizeIs(kCount));
    EXPECT_THAT(hundred, SizeIs(kCount));
    EXPECT_THAT(tenths, SizeIs(10));
  }
}

TEST(Sobol, EveryAxisIsStratified) {
  constexpr std::uint64_t kCount = 256;
  const std::vector<std::uint64_t> continuous(20, 0);
  const std::vector<Point> drawn = points("sobol:count=256,seed=5", continuous);
  ASSERT_THAT(drawn, SizeIs(kCount));
  for (std::size_t a = 0; a < continuous.size(); ++a) {
    std::set<int> strata;
    for (const Point& point : drawn) {
      strata.insert(static_cast<int>(point.number[a] * kCount));
    }
    EXPECT_THAT(strata, SizeIs(kCount)) << a;
  }
  // The first two axes are a net: one point in each box of every shape of 1/256.
  for (int across = 1; across <= 256; across *= 2) {
    std::set<std::pair<int, int>> boxes;
    for (const Point& point : drawn) {
      boxes.emplace(static_cast<int>(point.number[0] * across), static_cast<int>(point.number[1] * (256 / across)));
    }
    EXPECT_THAT(boxes, SizeIs(kCount)) << across;
  }
}

TEST(Sobol, EveryPairOfAxesIsCovered) {
  // The sequence has pairs of axes that take many points until their boxes are even.
  constexpr std::size_t kDimensions = 20;
  const std::vector<Point> drawn = points("sobol:count=4096,seed=5", std::vector<std::uint64_t>(kDimensions, 0));
  for (std::size_t a = 0; a < kDimensions; ++a) {
    for (std::size_t b = 0; b < a; ++b) {
      std::map<std::pair<int, int>, int> boxes;
      for (const Point& point : drawn) {
        ++boxes[{static_cast<int>(point.number[a] * 4), static_cast<int>(point.number[b] * 4)}];
      }
      EXPECT_THAT(boxes, SizeIs(16)) << a << " " << b;
      for (const auto& [box, count] : boxes) {
        EXPECT_EQ(count, 256) << a << " " << b;
      }
    }
  }
}

TEST(Sobol, IsThePublishedSequence) {
  // The shift is the same for all points: it cancels against that of the first, which is 0 without it. Points of three
  // dimensions as published with the direction numbers.
  const std::vector<std::vector<double>> published = {{0, 0, 0},
                                                      {0.5, 0.5, 0.5},
                                                      {0.75, 0.25, 0.25},
                                                      {0.25, 0.75, 0.75},
                                                      {0.375, 0.375, 0.625},
                                                      {0.875, 0.875, 0.125},
                                                      {0.625, 0.125, 0.875},
                                                      {0.125, 0.625, 0.375}};
  const std::vector<Point> drawn = points("sobol:count=8,seed=5", {0, 0, 0});
  const auto bits = [](double number) { return static_cast<std::uint32_t>(number * 0x1p32); };
  for (std::size_t i = 0; i < published.size(); ++i) {
    for (std::size_t f = 0; f < 3; ++f) {
      EXPECT_EQ((bits(drawn.at(i).number.at(f)) ^ bits(drawn.at(0).number.at(f))) * 0x1p-32, published.at(i).at(f))
          << i << " " << f;
    }
  }
}

TEST(Sobol, ListsAreEvenAndMoreGoesOn) {
  std::map<std::uint32_t, int> four;
  const auto drawn = choices(points("sobol:count=64", {4, 3}));
  for (const auto& choice : drawn) {
    ++four[choice[0]];
    EXPECT_LT(choice[1], 3U);
  }
  EXPECT_THAT(four, ElementsAre(std::pair(0U, 16), std::pair(1U, 16), std::pair(2U, 16), std::pair(3U, 16)));
  auto more = choices(points("sobol:count=100", {4, 3}));
  more.resize(64);
  EXPECT_EQ(drawn, more);
  EXPECT_THAT(points("sobol:count=50", {4, 3}, [](const Point& point) { return point.choice[0] == 1; }), SizeIs(50));
  EXPECT_THAT(message_of([] { static_cast<void>(points("sobol", std::vector<std::uint64_t>(21, 0))); }),
              ::testing::HasSubstr("at most 20"));
}

TEST(LatinHypercube, SaysHowManyConditionsDrop) {
  const Plan plan(
      of("sampler = \"latin-hypercube:count=12\"\nwhere = [\"machine.sms > 4\"]\n[axes]\n"
         "\"machine.sms\" = [1, 2, 3, 4, 5, 6]\n\"scheduler.steps_per_ray\" = { from = 1, to = 9 }\n"));
  EXPECT_EQ(plan.runs(), 4U);
  EXPECT_EQ(plan.dropped(), 8U);
}

TEST(Plan, ContinuousRangesStayInThem) {
  const Definition definition = of(R"(
sampler = "latin-hypercube:count=200"
where = ["machine.sms != 3", "scheduler.steps_per_ray < 90"]
[axes]
"machine.sms" = { from = 1, to = 4 }
"scheduler.steps_per_ray" = { from = 0.01, to = 100, scale = "log" }
"machine.resident_warps" = { from = 1, to = 64, scale = "log" }
)");
  const Plan plan(definition);
  EXPECT_EQ(rows(plan), rows(Plan(definition)));
  std::map<std::int64_t, int> sms;
  std::set<std::int64_t> warps;
  int below_one = 0;
  for (std::uint64_t run = 0; run < plan.runs(); ++run) {
    const std::vector<ParameterValue> values = plan.values(run);
    ++sms[std::get<std::int64_t>(values[0])];
    const double steps = std::get<double>(values[1]);
    EXPECT_GE(steps, 0.01);
    EXPECT_LT(steps, 90);
    below_one += steps < 1 ? 1 : 0;
    warps.insert(std::get<std::int64_t>(values[2]));
    EXPECT_EQ(plan.settings(run).real("scheduler.steps_per_ray"), steps);
  }
  EXPECT_THAT(sms, SizeIs(3));
  EXPECT_NEAR(sms[1], 50, 3);
  EXPECT_EQ(sms.count(3), 0U);
  // Half of the decades.
  EXPECT_NEAR(below_one, 75, 15);
  EXPECT_EQ(*warps.begin(), 1);
  EXPECT_LE(*warps.rbegin(), 64);
}

}  // namespace
}  // namespace rayreplay::sweep::testing
