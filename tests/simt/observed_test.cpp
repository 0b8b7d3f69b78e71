// Observed efficiency: fragments as they were recorded, and united.
#include "sim/simt/observed.hpp"

#include <bit>
#include <map>

#include <gtest/gtest.h>

#include "tests/support/launch_builder.hpp"
#include "tests/support/random_trace.hpp"

namespace rayreplay::simt {
namespace {

using trace::EventKind;
using trace::kNone;

enum ShaderId : std::uint16_t { kRayGen, kMiss, kHit };

std::size_t at(EventKind kind) {
  return static_cast<std::size_t>(kind);
}

/// Two lanes of one warp trace twice; the first calls together, the second apart.
trace::Launch two_bounces() {
  test::LaunchBuilder builder({2, 1, 1});
  builder.thread().begin(kRayGen).miss(kMiss).begin(kRayGen).miss(kMiss);
  builder.thread().begin(kRayGen).miss(kMiss).begin(kRayGen).miss(kMiss);
  trace::Launch launch = builder.build();
  launch.data.events.group = {0, 1, 2, 3, 0, 1, 4, 5};
  launch.groups.warp.assign(6, 0);
  launch.groups.sm.assign(6, 0);
  launch.groups.clock.assign(6, 0);
  launch.groups.lane_mask = {3, 3, 1, 1, 2, 2};
  return launch;
}

TEST(ObservedTest, FragmentsOfOneBounceAreUnited) {
  const Observed observed = observe(two_bounces());
  EXPECT_EQ(observed.fragments, (ObservedTally{6, 8}));
  EXPECT_EQ(observed.united, (ObservedTally{4, 8}));
  EXPECT_EQ(observed.fragments_by_kind[at(EventKind::Begin)], (ObservedTally{3, 4}));
  EXPECT_EQ(observed.united_by_kind[at(EventKind::Begin)], (ObservedTally{2, 4}));
  EXPECT_DOUBLE_EQ(observed.fragments.efficiency(4), 8.0 / 24);
  EXPECT_DOUBLE_EQ(observed.united.efficiency(4), 8.0 / 16);
}

TEST(ObservedTest, OtherWarpsAndRepackedGroupsStayApart) {
  trace::Launch launch = two_bounces();
  launch.groups.warp = {0, 0, 0, kNone, 1, kNone};
  EXPECT_EQ(observe(launch).united, (ObservedTally{6, 8}));
}

TEST(ObservedTest, LanesThatMeetStayApart) {
  trace::Launch launch = two_bounces();
  launch.groups.lane_mask[2] = 3;  // with a lane that was not recorded
  EXPECT_EQ(observe(launch).united_by_kind[at(EventKind::Begin)], (ObservedTally{3, 5}));
}

TEST(ObservedTest, WithoutGroupsThereIsNothing) {
  trace::Launch launch = two_bounces();
  launch.data.events.group.clear();
  EXPECT_TRUE(observe(launch).empty());
}

/// The definition, group by group, without sorting.
ObservedTally slow_united(const trace::Launch& launch) {
  const trace::Events& events = launch.data.events;
  struct Group {
    int call = -1;
    std::pair<std::uint32_t, std::uint32_t> ordinal{kNone, kNone};  // ray, how many such calls the ray already had
  };
  std::vector<Group> groups(launch.groups.size());
  for (std::size_t thread = 0; thread < launch.data.threads(); ++thread) {
    std::map<std::pair<int, std::uint32_t>, std::uint32_t> count;
    std::uint32_t begun = 0;
    for (std::uint64_t e = launch.data.event_offset[thread]; e < launch.data.event_offset[thread + 1]; ++e) {
      begun += trace::begins_ray(events.kind[e]) ? 1U : 0U;
      if (!trace::is_warp_event(events.kind[e])) {
        continue;
      }
      std::uint32_t ray = begun == 0 ? 0 : begun - 1;
      if (!events.ray.empty() && events.ray[e] != kNone) {
        ray = events.ray[e];
      }
      const int call = static_cast<int>(events.kind[e]) * 1000 + events.shader[e];
      Group& group = groups[events.group[e]];
      group.call = group.call < 0 ? call : group.call;
      group.ordinal = std::min(group.ordinal, {ray, count[{call, ray}]++});
    }
  }
  std::map<std::tuple<std::uint32_t, int, std::pair<std::uint32_t, std::uint32_t>>, std::vector<std::uint64_t>> united;
  ObservedTally tally;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    if (groups[g].call < 0) {
      continue;
    }
    const std::uint64_t mask = launch.groups.lane_mask[g];
    tally.lanes += static_cast<std::uint64_t>(std::popcount(mask));
    auto& masks = united[{launch.groups.warp[g], groups[g].call, groups[g].ordinal}];
    bool placed = false;
    for (std::uint64_t& other : masks) {
      if (!placed && launch.groups.warp[g] != kNone && (other & mask) == 0) {
        other |= mask;
        placed = true;
      }
    }
    if (!placed) {
      masks.push_back(mask);
      ++tally.groups;
    }
  }
  return tally;
}

TEST(ObservedTest, AgreesWithItsDefinitionOnRandomLaunches) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    trace::Trace trace =
        test::random_trace({.seed = seed, .size = {16, 8, 1}, .ray = seed % 2 == 0, .group = true, .capture = true});
    trace::Launch& launch = trace.launches[0];
    test::Random random(seed);
    // Groups of their own for most events, and some repacked ones.
    for (std::uint32_t& group : launch.data.events.group) {
      group = random.below(launch.data.events.size());
    }
    trace::Groups groups;
    for (std::size_t g = 0; g < launch.data.events.size(); ++g) {
      groups.warp.push_back(random.one_in(8) ? kNone : random.below(4));
      groups.lane_mask.push_back(1 + random.below(255));
      groups.sm.push_back(0);
      groups.clock.push_back(0);
    }
    launch.groups = groups;
    EXPECT_EQ(observe(launch).united, slow_united(launch)) << "seed " << seed;
  }
}

}  // namespace
}  // namespace rayreplay::simt
