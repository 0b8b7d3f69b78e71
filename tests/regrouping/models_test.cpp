// The models on launches one can follow by hand.
#include <gtest/gtest.h>

#include "scheduler-models/regrouping/regroup.hpp"
#include "scheduler-models/regrouping/segment_schedule.hpp"
#include "sim/simt/segment_replay.hpp"
#include "tests/simt/support.hpp"

namespace rayreplay {
namespace {

using scheduler::Segments;

TEST(Plain, IsTheReplayOfTheOrder) {
  const auto shaders = test::shaders_of_all_stages(11);
  std::mt19937_64 random(3);
  trace::Trace trace;
  trace.shaders = shaders;
  trace.launches.push_back(test::RandomLaunch(11, 5).make(700, 5));
  const trace::Launch& launch = trace.launches[0];
  for (const std::uint32_t warp_size : {1U, 4U, 8U, 32U, 64U}) {
    const auto order = test::shuffled_assignment(700, warp_size, random);
    const auto created = scheduler::SchedulerModels::create("plain");
    const Segments segments = scheduler::cut_paths(launch, created.model->cut());
    const scheduler::HintSources hints;
    const auto schedule = created.model->schedule({trace, launch, order, segments, {}, hints});
    check(schedule, segments);
    const auto result = simt::replay_segments(launch, shaders, segments, schedule.segment_at, warp_size, {});
    const auto expected = simt::replay(launch, shaders, order);
    EXPECT_EQ(result.replay.total, expected.total);
    EXPECT_EQ(result.replay.by_shader, expected.by_shader);
  }
}

}  // namespace
}  // namespace rayreplay
