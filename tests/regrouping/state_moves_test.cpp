// Whose state moves: as many threads of each warp as the schedule says, whatever the regrouping.
#include "scheduler-models/regrouping/state_moves.hpp"

#include <algorithm>
#include <random>

#include <gtest/gtest.h>

#include "tests/regrouping/random_schedules.hpp"
#include "tests/support/error_of.hpp"

namespace rayreplay::test {
namespace {

using scheduler::StateTraffic;

TEST(StateMoves, AreAsManyAsTheScheduleSays) {
  std::mt19937_64 random(7);
  std::uint64_t all = 0;
  for (const std::uint32_t warp_size : {1U, 4U, 32U, 64U}) {
    Plan plan = random_plan({warp_size, 3000, 5}, 6, random);
    plan.cut({.at = scheduler::CutAt::PendingCall});
    const auto keys = random_keys(plan.segments().size(), 5, random);
    for (const scheduler::Regrouping& regrouping : regroupings()) {
      SCOPED_TRACE(describe(regrouping));
      auto schedule = scheduler::schedule_rounds(plan.context(), keys, regrouping);
      const auto moves = scheduler::static_state_moves(plan.segments(), schedule, StateTraffic::Moved);
      for (std::size_t warp = 0; warp < schedule.warps(); ++warp) {
        std::uint32_t moved = 0;
        for (std::uint32_t lane = 0; lane < warp_size; ++lane) {
          const std::uint32_t segment = schedule.segment_at[warp * warp_size + lane];
          moved += segment == scheduler::kNoSegment ? 0U : moves[segment];
        }
        ASSERT_EQ(moved, schedule.moved[warp]);
        all += moved;
      }
      if (schedule.warps() > 0) {
        ++schedule.moved[0];
        EXPECT_EQ(
            error_of(ErrorKind::Internal,
                     [&] { return scheduler::static_state_moves(plan.segments(), schedule, StateTraffic::Moved); })
                .where,
            "warp 0");
      }
    }
    const auto schedule = scheduler::schedule_rounds(plan.context(), keys, {});
    const auto every = scheduler::static_state_moves(plan.segments(), schedule, StateTraffic::All);
    const auto none = scheduler::static_state_moves(plan.segments(), schedule, StateTraffic::None);
    for (std::size_t thread = 0; thread + 1 < plan.segments().first.size(); ++thread) {
      const std::uint32_t first = plan.segments().first[thread];
      for (std::uint32_t segment = first; segment < plan.segments().first[thread + 1]; ++segment) {
        ASSERT_EQ(every[segment], segment == first ? 0 : 1);
        ASSERT_EQ(none[segment], 0);
      }
    }
  }
  EXPECT_GT(all, 1000U);
}

}  // namespace
}  // namespace rayreplay::test
