#include "sim/sweep/workers/memory_budget.hpp"

#include <gtest/gtest.h>

namespace rayreplay::sweep {
namespace {

using experiment::Stage;
using experiment::StageForecast;

std::vector<StageForecast> stages(const std::string& input, std::uint64_t input_bytes, std::uint64_t cache_bytes) {
  return {{Stage::Input, input, false, false, 0, input_bytes, input_bytes},
          {Stage::Cache, "c", false, false, 0, cache_bytes}};
}

TEST(MemoryBudget, CountsWhatIsSharedOnce) {
  const Need a = need_of(stages("trace", 100, 10));
  const Need b = need_of(stages("trace", 100, 20));
  const Need other = need_of(stages("other", 50, 1));
  MemoryBudget budget(150);
  ASSERT_TRUE(budget.fits(a));
  budget.take(a);
  EXPECT_EQ(budget.in_use(), 110U);
  ASSERT_TRUE(budget.fits(b));
  budget.take(b);
  EXPECT_EQ(budget.in_use(), 130U);
  EXPECT_FALSE(budget.fits(other));
  budget.give_back(a);
  EXPECT_EQ(budget.in_use(), 120U) << "b still has the trace";
  budget.give_back(b);
  EXPECT_EQ(budget.in_use(), 0U);
  EXPECT_TRUE(budget.fits(other));
}

TEST(MemoryBudget, RunsOfAUnitComeOneAfterAnother) {
  Need unit = need_of(stages("trace", 100, 10));
  unit.join(need_of(stages("trace", 100, 30)));
  unit.join(need_of(stages("second", 5, 20)));
  EXPECT_EQ(unit.own, 30U);
  EXPECT_EQ(unit.bytes(), 135U);
}

TEST(MemoryBudget, SumsDoNotOverflow) {
  const Need huge = need_of(stages("trace", ~0ULL, ~0ULL));
  EXPECT_EQ(huge.bytes(), ~0ULL);
  EXPECT_FALSE(MemoryBudget(1000).ever_fits(huge));
  EXPECT_FALSE(MemoryBudget(1000).fits(huge));
  EXPECT_TRUE(MemoryBudget(0).ever_fits(huge)) << "no limit";
}

}  // namespace
}  // namespace rayreplay::sweep
