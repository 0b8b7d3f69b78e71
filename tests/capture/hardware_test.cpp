// Captures of a real GPU, kept as files (tests/data/h200/README.md): that they still load and validate, that their
// books balance, and that what is computed from them stays what it was.
#include <gtest/gtest.h>

#include <bit>
#include <string>
#include <vector>

#include "capture/trace/reader.hpp"
#include "scheduler-models/launch_order.hpp"
#include "scheduler-models/warp_assignment.hpp"
#include "sim/simt/observed.hpp"
#include "sim/simt/replayer.hpp"
#include "tests/capture/captured.hpp"

namespace rayreplay::test {
namespace {

struct Known {
  std::string file;
  std::uint64_t rays, events, groups;
  std::uint64_t calls;              ///< warp events' lanes, of the recorded threads
  std::uint64_t warp_events;        ///< of a replay in the captured warps
  std::uint64_t united, fragments;  ///< what the device ran
};

void PrintTo(const Known& value, std::ostream* out) {
  *out << value.file;
}

class HardwareCapture : public testing::TestWithParam<Known> {
 protected:
  HardwareCapture() : trace_(trace::load(std::string(RAYREPLAY_SOURCE_DIR "/tests/data/h200/") + GetParam().file)) {}
  [[nodiscard]] const trace::Launch& launch() const {
    return trace_.launches.at(0);
  }

  trace::Trace trace_;
};

TEST_P(HardwareCapture, SaysWhereItComesFrom) {
  EXPECT_EQ(trace_.header.device, "NVIDIA H200");
  EXPECT_EQ(trace_.header.warp_size, 32U);
  EXPECT_EQ(trace_.launches.size(), 1U);
  EXPECT_EQ(launch().data.rays.size(), GetParam().rays);
  EXPECT_EQ(launch().data.events.size(), GetParam().events);
  EXPECT_EQ(launch().groups.size(), GetParam().groups);
  EXPECT_EQ(launch().dropped_events, 0U);
  EXPECT_GT(launch().duration_ns, 0U);
  EXPECT_FALSE(launch().shader_table.empty());
}

TEST_P(HardwareCapture, EveryRayEndsOnce) {
  for (const RayStory& story : tell_rays(launch())) {
    if (story.occlusion) {
      EXPECT_EQ(story.closest_hits, 0U);
      EXPECT_LE(story.misses, 1U);
    } else {
      EXPECT_EQ(story.closest_hits + story.misses, 1U);
    }
  }
}

/// Every event stands in a group whose mask has its thread's lane, each lane once: the device did not repack threads.
TEST_P(HardwareCapture, GroupsHoldTheirThreads) {
  const trace::ThreadData& data = launch().data;
  std::vector<std::uint64_t> lanes(launch().groups.size(), 0);
  for (std::size_t thread = 0; thread < data.threads(); ++thread) {
    for (std::uint64_t row = data.event_offset[thread]; row < data.event_offset[thread + 1]; ++row) {
      const std::uint32_t group = data.events.group[row];
      const std::uint64_t lane = std::uint64_t{1} << launch().thread_lane[thread];
      ASSERT_LT(group, lanes.size());
      ASSERT_NE(launch().groups.lane_mask[group] & lane, 0U);
      ASSERT_EQ(lanes[group] & lane, 0U);
      lanes[group] |= lane;
      ASSERT_EQ(launch().groups.warp[group], launch().thread_warp[thread]);
    }
  }
  // Lanes outside the window ran with the others, but were not recorded.
  for (std::size_t group = 0; group < lanes.size(); ++group) {
    EXPECT_NE(lanes[group], 0U);
    EXPECT_EQ(lanes[group] & ~launch().groups.lane_mask[group], 0U);
  }
}

/// A warp of the device stays on its SM.
TEST_P(HardwareCapture, WarpsStayOnTheirSm) {
  std::vector<std::uint32_t> sm(launch().data.threads(), trace::kNone);
  for (std::size_t group = 0; group < launch().groups.size(); ++group) {
    std::uint32_t& known = sm.at(launch().groups.warp[group]);
    EXPECT_TRUE(known == trace::kNone || known == launch().groups.sm[group]);
    known = launch().groups.sm[group];
  }
}

TEST_P(HardwareCapture, ReplaysAsBefore) {
  const scheduler::WarpAssignment assignment =
      scheduler::LaunchOrders::create("captured").model->assign(launch(), trace_.header.warp_size);
  const simt::ReplayResult replay = simt::replay(launch(), trace_.shaders, assignment);
  EXPECT_EQ(replay.total.active_lanes, GetParam().calls);
  EXPECT_EQ(replay.total.warp_events, GetParam().warp_events);
  const simt::Observed observed = simt::observe(launch());
  EXPECT_EQ(observed.united.groups, GetParam().united);
  EXPECT_EQ(observed.fragments.groups, GetParam().fragments);
}

INSTANTIATE_TEST_SUITE_P(H200, HardwareCapture,
                         testing::Values(Known{"one-weekend.rrt", 34040, 197005, 24577, 154659, 13800, 15115, 17073},
                                         Known{"one-weekend-ser.rrt", 20863, 152793, 12010, 106967, 7027, 7132, 8571},
                                         Known{"bunny.rrt", 34546, 81603, 6089, 81603, 4098, 4273, 6089},
                                         Known{"teapot-alpha.rrt", 40969, 106909, 13335, 102736, 6976, 7142, 11673}),
                         [](const auto& known) {
                           std::string name = known.param.file.substr(0, known.param.file.find('.'));
                           for (char& c : name) {
                             c = c == '-' ? '_' : c;
                           }
                           return name;
                         });

}  // namespace
}  // namespace rayreplay::test
