// rayreplay cache with engines that sample: their splits and curves, and the errors that they state.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <regex>
#include <tuple>

#include <nlohmann/json.hpp>

#include "tests/app/cache/cache_command.hpp"

namespace rayreplay::test {
namespace {

using nlohmann::json;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

using CacheSampledTest = CacheCommand;

TEST_F(CacheSampledTest, SampledDistancesSplitAllMisses) {
  const json result = answer({"--reuse-engine", "sampled:rate=0.25"});
  EXPECT_EQ(result["reuse_engine"]["weight"], 4);
  for (const json& row : result["rows"]) {
    if (!row["cold"].is_null()) {
      EXPECT_NEAR(sum_of_classes(row), row["misses"].get<double>(), 1e-6 * row["misses"].get<double>());
    }
  }
}

/// Miss ratio of a fully associative cache of so many lines, as the curve has it: its last point that is not larger.
json point_of(const json& level, std::uint64_t lines) {
  json last;
  for (const json& point : level["miss_ratio_curve"]) {
    if (point[0].get<std::uint64_t>() <= lines) {
      last = point;
    }
  }
  return last;
}

TEST_F(CacheSampledTest, SampledCurvesAreAdjustedAndSayTheirError) {
  const json exact = answer({});
  const json sampled = answer({"--reuse-engine", "sampled:rate=0.5"});
  for (std::size_t i = 0; i < 2; ++i) {
    const json& level = sampled["levels"][i];
    for (const json& point : exact["levels"][i]["miss_ratio_curve"]) {
      EXPECT_EQ(point.size(), 2U) << "exact: no error";
    }
    ASSERT_FALSE(level["miss_ratio_curve"].empty());
    for (const json& point : level["miss_ratio_curve"]) {
      ASSERT_EQ(point.size(), 3U);
      EXPECT_GE(point[2], 0);
      EXPECT_LT(point[2], 0.5);
    }
    // Over the accesses that the sample should have, not those that it has.
    const json& reuse = level["reuse_distances"];
    double cold = reuse["cold"];
    const json& counts = level["counts"];
    EXPECT_NEAR(level["miss_ratio_curve"].back()[1].get<double>(), cold * 2 / counts["accesses"].get<double>(), 1e-4);
    const std::uint64_t lines = level["geometry"]["lines"];
    const json found = point_of(level, lines), wanted = point_of(exact["levels"][i], lines);
    EXPECT_NEAR(found[1].get<double>(), wanted[1].get<double>(), 6 * found[2].get<double>() + 0.01) << i;
  }
  const json alone = answer({"--reuse-engine", "sampled:rate=0.5,parts=0"});
  EXPECT_TRUE(alone["levels"][0]["miss_ratio_curve"][0][2].is_null()) << "no parts, no error";
  EXPECT_EQ(alone["levels"][0]["miss_ratio_curve"][0][1], sampled["levels"][0]["miss_ratio_curve"][0][1]);
}

TEST_F(CacheSampledTest, SampledReuseSaysItsErrorToPeople) {
  const Outcome outcome = ask({"--reuse-engine", "sampled:rate=0.5", "--report", scratch_ / "r"});
  ASSERT_EQ(outcome.code, 0) << outcome.errors;
  EXPECT_THAT(outcome.output, ContainsRegex("reuse    sampled:.* standard error: L1 [0-9.]* ± [0-9.]* %, L2 .* ±"));
  const std::string page = read_bytes(scratch_ / "r/index.html");
  EXPECT_THAT(page, HasSubstr("standard error of the sample"));
  EXPECT_THAT(page, HasSubstr("<polygon class=\"c1\""));
  // A sample that cannot tell the sizes apart says so; without parts no error is known.
  const Outcome few = ask({"--reuse-engine", "sampled:rate=0.1,parts=0"});
  EXPECT_THAT(few.output, HasSubstr("too small for the rate"));
  EXPECT_THAT(few.output, Not(HasSubstr(" ± 0")));
  const Outcome exact = ask({"--report", scratch_ / "e"});
  EXPECT_THAT(exact.output, Not(HasSubstr("standard error")));
  EXPECT_THAT(read_bytes(scratch_ / "e/index.html"), Not(HasSubstr("<polygon")));
}

}  // namespace
}  // namespace rayreplay::test
