// Paths of calls with their instructions, and the efficiency of groups of lanes that took different paths.
#include "capture/profile/path_efficiency.hpp"

#include <algorithm>
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "capture/profile/thread_instructions.hpp"
#include "tests/support/branching_shader.hpp"
#include "tests/support/random_trace.hpp"

namespace rayreplay::profile {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using trace::EventKind;
using trace::ShaderStage;

/// Two shaders of four blocks with 2, 4, 1 and 1 instructions.
trace::Trace two_shaders() {
  trace::Trace result;
  result.header.warp_size = 4;
  for (const ShaderStage stage : {ShaderStage::RayGeneration, ShaderStage::Miss}) {
    result.shaders.push_back({stage, "main", "shader", test::branching_shader()});
  }
  for (std::uint16_t shader = 0; shader < 2; ++shader) {
    for (std::uint32_t block = 0; block < 4; ++block) {
      result.paths.block_shader.push_back(shader);
      result.paths.function.push_back(0);
      result.paths.block.push_back(block);
    }
  }
  return result;
}

void add_path(trace::Trace& trace, std::uint16_t shader, std::uint64_t calls, std::vector<std::uint32_t> counts) {
  trace.paths.shader.push_back(shader);
  trace.paths.calls.push_back(calls);
  trace.paths.counts.insert(trace.paths.counts.end(), counts.begin(), counts.end());
}

PathProfile profile_of(const trace::Trace& trace) {
  return path_profile(trace.shaders, trace.paths, "t.rrt");
}

TEST(PathProfile, HasTheInstructionsOfEachCall) {
  trace::Trace trace = two_shaders();
  add_path(trace, 0, 5, {1, 0, 1, 1});   // 4 instructions
  add_path(trace, 0, 1, {1, 1, 0, 1});   // 7
  add_path(trace, 1, 0, {1, 0, 0, 0});   // 2, no call
  add_path(trace, 1, 2, {1, 10, 0, 1});  // 43
  const PathProfile profile = profile_of(trace);
  EXPECT_THAT(profile.instructions, ElementsAre(4, 7, 2, 43));
  ASSERT_EQ(profile.shaders.size(), 2U);
  EXPECT_THAT(profile.shaders[0].instructions, ElementsAre(2, 4, 1, 1));
  EXPECT_EQ(profile.shaders[0].calls, 6U);
  EXPECT_EQ(profile.shaders[0].taken, 2U);
  EXPECT_EQ(profile.shaders[0].executed, 27U);
  EXPECT_EQ(profile.shaders[0].least, 4U);
  EXPECT_EQ(profile.shaders[0].most, 7U);
  EXPECT_EQ(profile.shaders[0].most_calls, 5U);
  EXPECT_EQ(profile.shaders[1].taken, 1U);
  EXPECT_EQ(profile.shaders[1].least, 43U);
  EXPECT_EQ(profile.shaders[1].executed, 86U);
}

TEST(PathProfile, OfBlocksThatAreNotThereIsRefused) {
  trace::Trace trace = two_shaders();
  trace.paths.block[3] = 4;
  add_path(trace, 0, 5, {1, 0, 1, 1});
  try {
    static_cast<void>(profile_of(trace));
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.info().where, HasSubstr("t.rrt:/profile/path_blocks/block[3]"));
  }
}

TEST(PathProfile, OfSumsBeyond64BitsIsRefused) {
  trace::Trace trace = two_shaders();
  add_path(trace, 0, ~std::uint64_t{0}, {1, 0, 1, 1});
  try {
    static_cast<void>(profile_of(trace));
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.info().where, HasSubstr("/profile/paths/calls[0]"));
  }
}

/// A launch of so many threads, a miss each.
trace::Launch misses(const std::vector<std::uint32_t>& groups, const std::vector<std::uint32_t>& paths) {
  trace::Launch launch;
  launch.size = {static_cast<std::uint32_t>(groups.size()), 1, 1};
  for (std::size_t i = 0; i < groups.size(); ++i) {
    launch.data.events.kind.push_back(EventKind::Miss);
    launch.data.events.group.push_back(groups[i]);
    launch.data.events.path.push_back(paths[i]);
    launch.data.events.shader.push_back(1);
  }
  launch.groups.warp.assign(*std::max_element(groups.begin(), groups.end()) + 1, 0);
  return launch;
}

constexpr std::size_t kMiss = trace::kEventKinds + static_cast<std::size_t>(EventKind::Miss);

PathTallies tally(const trace::Trace& trace, const trace::Launch& launch) {
  return tally_groups(EventPaths(trace, launch), trace.shaders, launch);
}

TEST(PathEfficiency, NeedsTheMostExecutionsOfEachBlock) {
  trace::Trace trace = two_shaders();
  add_path(trace, 1, 3, {1, 0, 1, 1});  // 4
  add_path(trace, 1, 1, {1, 1, 0, 1});  // 7
  add_path(trace, 1, 1, {1, 5, 2, 1});  // 25
  const auto of = [&](const std::vector<std::uint32_t>& groups, const std::vector<std::uint32_t>& paths) {
    return tally(trace, misses(groups, paths)).by_call.at(kMiss);
  };
  PathTally tally = of({0, 0, 0, 0}, {1, 1, 1, 1});
  EXPECT_EQ(tally.efficiency(4), 1.);
  tally = of({0, 0, 0, 0}, {1, 2, 1, 1});  // blocks 0 to 3: all once, 2 + 4 + 1 + 1
  EXPECT_EQ(tally.lane_instructions, 16 * 19U);
  EXPECT_EQ(tally.group_instructions, 16 * 8U);
  tally = of({0, 1, 0, 1}, {1, 2, 3, 2});
  EXPECT_EQ(tally.groups, 2U);
  EXPECT_EQ(tally.group_instructions, 16 * (25U + 7U));
  EXPECT_EQ(tally.lane_instructions, 16 * (4U + 25U + 7U + 7U));
  EXPECT_EQ(tally.known(), 1.);
  tally = of({0, 1, 0, 1}, {1, 0, 3, 2});  // a lane of group 1 has no path
  EXPECT_EQ(tally.groups, 1U);
  EXPECT_EQ(tally.known(), 0.5);
  EXPECT_EQ(tally.group_instructions, 16 * 25U);
  EXPECT_FALSE(tally.efficiency(0));
  EXPECT_FALSE(of({0}, {0}).efficiency(4));
}

TEST(PathEfficiency, OfRayGenerationSharesAPathByTraceCalls) {
  trace::Trace trace = two_shaders();
  add_path(trace, 0, 1, {1, 3, 0, 1});  // 15, of 3 trace calls
  add_path(trace, 0, 1, {1, 1, 0, 1});  // 7, of 1
  trace::Launch launch;
  launch.size = {2, 1, 1};
  launch.data.events.kind = {EventKind::Begin, EventKind::OcclusionBegin, EventKind::Begin, EventKind::Begin};
  launch.data.events.shader = {0, 0, 0, 0};
  launch.data.events.group = {0, 1, 2, 0};
  launch.data.event_offset = {0, 3, 4};
  launch.thread_path = {1, 2};
  launch.groups.warp = {0, 0, 0};
  const PathTallies sums = tally(trace, launch);
  // Together: block 0 once, 1 once, 3 once; of the lanes 5 and 7. The first lane has two more trace calls by itself.
  const PathTally begin = sums.of_kind(EventKind::Begin);
  EXPECT_EQ(begin.lane_instructions, 16 * (5U + 7U + 5U));
  EXPECT_EQ(begin.group_instructions, 16 * (7U + 5U));
  EXPECT_EQ(sums.of_kind(EventKind::OcclusionBegin).group_instructions, 16 * 5U);
  EXPECT_EQ(sums.of_shader(0), sums.all());
}

TEST(PathEfficiency, RefusesSumsThatDoNotFit) {
  trace::Trace trace = two_shaders();
  add_path(trace, 1, 1, {0xFFFF'FFFFU, 0xFFFF'FFFFU, 0xFFFF'FFFFU, 0xFFFF'FFFFU});  // nearly 2^35
  const auto of = [&](std::size_t events) {
    const trace::Launch launch = misses(std::vector<std::uint32_t>(events, 0), std::vector<std::uint32_t>(events, 1));
    return tally(trace, launch).all().efficiency(1);
  };
  EXPECT_DOUBLE_EQ(*of(1U << 20U), 1U << 20U);
  try {
    static_cast<void>(of((1U << 20U) + 2));
    FAIL() << "the sums do not fit";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::Resource);
    EXPECT_THAT(error.info().what, HasSubstr("too many instructions"));
  }
}

/// Straight from the definition, group by group.
PathTally slow(const trace::Trace& trace, const trace::Launch& launch) {
  const std::uint32_t instructions[4] = {2, 4, 1, 1};
  std::map<std::uint32_t, std::vector<std::uint32_t>> groups;
  for (std::size_t e = 0; e < launch.data.events.size(); ++e) {
    groups[launch.data.events.group[e]].push_back(launch.data.events.path[e]);
  }
  PathTally result;
  for (const auto& [group, paths] : groups) {
    result.lanes += paths.size();
    if (std::ranges::find(paths, 0U) != paths.end()) {
      continue;
    }
    ++result.groups;
    result.known_lanes += paths.size();
    for (std::size_t b = 0; b < 4; ++b) {
      std::uint64_t most = 0;
      for (const std::uint32_t path : paths) {
        const std::uint32_t count = trace.paths.counts[4 * (path - 1) + b];
        result.lane_instructions += std::uint64_t{16} * count * instructions[b];
        most = std::max<std::uint64_t>(most, count);
      }
      result.group_instructions += 16 * most * instructions[b];
    }
  }
  return result;
}

TEST(PathEfficiency, IsThatOfTheDefinition) {
  test::Random random(3);
  for (int round = 0; round < 50; ++round) {
    trace::Trace trace = two_shaders();
    for (std::uint32_t i = 0; i < 12; ++i) {
      add_path(trace, i < 5 ? 0 : 1, 1, {1 + random.below(9), random.below(300), random.below(3), 1});
    }
    const std::uint32_t threads = 1 + random.below(20'000);
    std::vector<std::uint32_t> groups, paths;
    for (std::uint32_t t = 0; t < threads; ++t) {
      groups.push_back(random.below(threads / 3 + 1));
      paths.push_back(random.one_in(20) ? 0 : 6 + random.below(7));
    }
    const trace::Launch launch = misses(groups, paths);
    EXPECT_EQ(tally(trace, launch).by_call.at(kMiss), slow(trace, launch));
  }
}

/// Threads with a path of their own and events with some; the twin walks the events from their end.
TEST(ThreadInstructions, AreSumsOverTheThreadsCalls) {
  test::Random random(9);
  trace::Trace trace = two_shaders();
  for (std::uint32_t i = 0; i < 12; ++i) {
    add_path(trace, i < 5 ? 0 : 1, 1, {1 + random.below(9), random.below(300), random.below(3), 1});
  }
  const PathProfile profile = profile_of(trace);
  for (int round = 0; round < 20; ++round) {
    const std::uint32_t threads = 1 + random.below(40);
    trace::Launch launch;
    launch.size = {threads, 1, 1};
    launch.data.event_offset = {0};
    launch.data.ray_offset.assign(threads + 1, 0);
    for (std::uint32_t t = 0; t < threads; ++t) {
      for (std::uint32_t e = random.below(4); e > 0; --e) {
        launch.data.events.kind.push_back(EventKind::Miss);
        launch.data.events.path.push_back(random.one_in(4) ? 0 : 6 + random.below(7));
      }
      launch.data.event_offset.push_back(launch.data.events.kind.size());
      launch.thread_path.push_back(random.one_in(4) ? 0 : 1 + random.below(5));
    }
    const auto all = thread_instructions(trace, profile, launch, std::nullopt, "t.rrt");
    const auto first = thread_instructions(trace, profile, launch, std::uint16_t{0}, "t.rrt");
    const auto second = thread_instructions(trace, profile, launch, std::uint16_t{1}, "t.rrt");
    const auto blocks = thread_blocks(trace, profile, launch, std::nullopt, "t.rrt");
    ASSERT_EQ(blocks.size(), threads);
    const auto blocks_of = [&](std::uint32_t path) {
      std::uint64_t sum = 0;
      for (std::size_t i = 0; path != 0 && i < 4; ++i) {
        sum += trace.paths.counts[4 * std::size_t{path - 1} + i];
      }
      return sum;
    };
    ASSERT_EQ(all.size(), threads);
    std::vector<std::optional<std::uint64_t>> events(threads), own(threads);
    std::uint32_t thread = threads;
    for (std::size_t row = launch.data.events.path.size(); row-- > 0;) {
      while (row < launch.data.event_offset[thread]) {
        --thread;
      }
      if (const std::uint32_t path = launch.data.events.path[row]; path != 0) {
        events[thread] = events[thread].value_or(0) + profile.instructions[path - 1];
      }
    }
    for (std::uint32_t t = 0; t < threads; ++t) {
      if (const std::uint32_t path = launch.thread_path[t]; path != 0) {
        own[t] = profile.instructions[path - 1];
      }
      EXPECT_EQ(first[t], own[t]);
      EXPECT_EQ(second[t], events[t]);
      std::uint64_t executed = blocks_of(launch.thread_path[t]);
      for (std::uint64_t row = launch.data.event_offset[t]; row < launch.data.event_offset[t + 1]; ++row) {
        executed += blocks_of(launch.data.events.path[row]);
      }
      EXPECT_EQ(blocks[t].value_or(0), executed);
      EXPECT_EQ(blocks[t].has_value(), all[t].has_value());
      EXPECT_EQ(all[t].has_value(), own[t].has_value() || events[t].has_value());
      EXPECT_EQ(all[t].value_or(0), own[t].value_or(0) + events[t].value_or(0));
    }
  }
  EXPECT_TRUE(thread_instructions(trace, profile, trace::Launch(), std::nullopt, "t.rrt").empty());
}

TEST(ThreadInstructions, BeyondTheirTypeAreRefused) {
  trace::Trace trace = two_shaders();
  add_path(trace, 0, 1, {0xFFFFFFFF, 0, 0, 0});
  PathProfile profile = profile_of(trace);
  profile.instructions[0] = ~std::uint64_t{0} - 1;
  trace::Launch launch;
  launch.size = {1, 1, 1};
  launch.data.event_offset = {0, 1};
  launch.data.ray_offset = {0, 0};
  launch.data.events.kind = {EventKind::Miss};
  launch.data.events.path = {1};
  launch.thread_path = {1};
  try {
    static_cast<void>(thread_instructions(trace, profile, launch, std::nullopt, "t.rrt"));
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.info().found, HasSubstr("thread 0"));
  }
}

}  // namespace
}  // namespace rayreplay::profile
