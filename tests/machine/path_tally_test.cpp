// SIMT efficiency by instruction of replayed warps: a worked example, the definition on random paths, missing paths,
// and the number of workers.
#include "sim/machine/path_tally.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>
#include <oneapi/tbb/global_control.h>

#include "scheduler-models/regrouping/segments.hpp"
#include "sim/simt/reference/replay_reference.hpp"
#include "tests/machine/path_traces.hpp"
#include "tests/regrouping/support.hpp"

namespace rayreplay::machine::by_path {
namespace {

using profile::EventPaths;
using profile::PathTallies;
using profile::PathTally;

/// Instructions of the blocks of path_traces.hpp: a sum of vectors is one.
constexpr std::array<double, 5> kInstructions = {4, 5, 2, 1, 2};

PathTallies of_threads(const trace::Trace& trace, const std::vector<std::uint32_t>& thread_at,
                       std::uint32_t warp_size) {
  const trace::Launch& launch = trace.launches.at(0);
  const auto paths = profile::event_paths(trace, launch);
  return paths == nullptr ? PathTallies()
                          : tally_warps(launch, trace.shaders, launch.data.event_offset, thread_at, warp_size,
                                        simt::Policy::StageMajority, *paths);
}

// The example of docs/MODELS.md §14.
TEST(PathTally, OfTheExampleInTheManual) {
  const PathTallies sums = of_threads(two_threads({3, 4}, {1, 2}), {0, 1}, 2);
  // Both trace calls: 5 + 5 of the lanes; block 0 once, 1 half, 3 once. Both hits: 10 + 9; all blocks once. Then thread
  // 0 alone: its second trace call, 5; and a miss without a path.
  const PathTally begin = sums.of_kind(EventKind::Begin);
  EXPECT_EQ(begin.lane_instructions, 16 * 15U);
  EXPECT_EQ(begin.group_instructions, 16 * 7U + 8U + 16 * 5U);
  EXPECT_DOUBLE_EQ(*begin.efficiency(2), 15 / (2 * 12.5));
  const PathTally hit = sums.of_kind(EventKind::ClosestHit);
  EXPECT_EQ(hit.lane_instructions, 16 * 19U);
  EXPECT_EQ(hit.group_instructions, 16 * 14U);
  EXPECT_EQ(hit, sums.of_shader(1));
  const PathTally miss = sums.of_shader(2);
  EXPECT_FALSE(miss.efficiency(2));
  EXPECT_EQ(*miss.known(), 0);
  const PathTally all = sums.all();
  EXPECT_DOUBLE_EQ(*all.efficiency(2), 34. / 53);
  EXPECT_DOUBLE_EQ(*all.known(), 5. / 6);
  EXPECT_EQ(all.groups, 3U);
}

TEST(PathTally, OfLanesOfOnePathIsTheirShareOfTheWarp) {
  EXPECT_DOUBLE_EQ(*of_threads(two_threads({3, 3}, {0, 0}), {0, 1}, 2).all().efficiency(2), 1);
  EXPECT_DOUBLE_EQ(*of_threads(two_threads({3, 3}, {0, 0}), {1, scheduler::kNoSegment, 0, scheduler::kNoSegment}, 2)
                        .all()
                        .efficiency(2),
                   0.5);
}

TEST(PathTally, LeavesOutWarpEventsInWhichALaneHasNoPath) {
  const PathTallies sums = of_threads(two_threads({3, 0}, {0, 2}), {0, 1}, 2);
  EXPECT_EQ(sums.all().lanes, 6U);
  EXPECT_EQ(sums.all().known_lanes, 0U);
  EXPECT_FALSE(sums.all().efficiency(2));
  // In warps of their own, the known ones count.
  const PathTallies alone = of_threads(two_threads({3, 0}, {0, 2}), {0, 1}, 1);
  EXPECT_EQ(alone.all().known_lanes, 2U);
  EXPECT_DOUBLE_EQ(*alone.all().efficiency(1), 1);
}

TEST(PathTally, IsEmptyWithoutPaths) {
  EXPECT_TRUE(of_threads(two_threads({0, 0}, {0, 0}), {0, 1}, 2).empty());
  trace::Trace none = two_threads({3, 4}, {1, 2});
  none.paths = {};
  none.launches[0].data.events.path.clear();
  none.launches[0].thread_path.clear();
  EXPECT_TRUE(of_threads(none, {0, 1}, 2).empty());
  EXPECT_FALSE(PathTallies().all().efficiency(32));
  EXPECT_FALSE(PathTallies().all().known());
}

/// The definition, warp by warp with the slow replayer.
class SlowTally : public SlowPathCosts {
 public:
  explicit SlowTally(const trace::Trace& trace) : SlowPathCosts(trace, none_) {}

  void add(const scheduler::Segments& segments, const std::vector<std::uint32_t>& lanes, simt::Policy policy,
           PathTallies& sums) const {
    const trace::Launch pieces = test::segments_as_threads(launch_, segments);
    scheduler::WarpAssignment one;
    one.warp_size = static_cast<std::uint32_t>(lanes.size());
    one.thread_at.assign(lanes.begin(), lanes.end());
    one.start_rank.push_back(0);
    std::vector<std::uint64_t> taken(lanes.size());
    for (const simt::WarpEvent& event : simt::replay_warp_reference(pieces, trace_.shaders, one, 0, policy)) {
      if (trace::begins_ray(event.kind) && trace_.shaders[event.shader].stage != ShaderStage::RayGeneration) {
        for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
          taken[lane] += event.mask >> lane & 1U;
        }
        continue;  // a trace call that executes nothing of its own
      }
      PathTally& sum = sums.by_call.at(event.shader * trace::kEventKinds + static_cast<std::size_t>(event.kind));
      std::array<double, kInstructions.size()> most{};
      double of_lanes = 0;
      std::uint64_t active = 0;
      bool known = true;
      for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
        if ((event.mask >> lane & 1U) == 0) {
          continue;
        }
        ++active;
        const std::uint64_t row = warp_event(segments, lanes[lane], taken[lane]++);
        double own = 0;
        for (std::size_t block = 0; block < most.size(); ++block) {
          const double executions = executed(event.shader, row, block);
          known = known && executions >= 0;
          most.at(block) = std::max(most.at(block), executions);
          own += executions * kInstructions.at(block);
        }
        of_lanes += std::round(16 * own);
      }
      sum.lanes += active;
      if (known) {
        double of_group = 0;
        for (std::size_t block = 0; block < most.size(); ++block) {
          of_group += most.at(block) * kInstructions.at(block);
        }
        sum.known_lanes += active;
        ++sum.groups;
        sum.lane_instructions += static_cast<std::uint64_t>(of_lanes);
        sum.group_instructions += static_cast<std::uint64_t>(std::round(16 * of_group));
      }
    }
  }

 private:
  /// Row of the segment's n-th warp event.
  [[nodiscard]] std::uint64_t warp_event(const scheduler::Segments& segments, std::uint32_t segment,
                                         std::uint64_t n) const {
    std::uint64_t row = segments.event_offset[segment];
    while (!trace::is_warp_event(launch_.data.events.kind[row]) || n-- > 0) {
      ++row;
    }
    return row;
  }
  Costs none_;
};

/// Segments in any order, with holes, in whole warps.
std::vector<std::uint32_t> shuffled(std::size_t segments, std::uint32_t warp_size, test::Random& random) {
  std::vector<std::uint32_t> places(segments);
  std::iota(places.begin(), places.end(), 0U);
  const std::size_t holes = random.below(9);
  places.resize((segments + holes + warp_size - 1) / warp_size * warp_size, scheduler::kNoSegment);
  for (std::size_t i = places.size(); i > 1; --i) {
    std::swap(places[i - 1], places[random.below(static_cast<std::uint32_t>(i))]);
  }
  return places;
}

TEST(PathTally, IsThatOfTheDefinitionForAnyNumberOfWorkers) {
  std::size_t compared = 0, unknown = 0;
  for (std::uint64_t seed = 1; seed <= 24; ++seed) {
    SCOPED_TRACE(seed);
    test::Random random(seed);
    const trace::Trace trace = random_paths(seed, random);
    const trace::Launch& launch = trace.launches[0];
    const auto paths = profile::event_paths(trace, launch);
    if (paths == nullptr) {
      continue;
    }
    const scheduler::Segments segments =
        scheduler::cut_paths(launch, {.at = static_cast<scheduler::CutAt>(random.below(3))});
    const std::uint32_t warp_size = std::array{2U, 8U, 32U, 64U}.at(random.below(4));
    const std::vector<std::uint32_t> places = shuffled(segments.size(), warp_size, random);
    const SlowTally slow(trace);
    for (const simt::Policy policy : {simt::Policy::StageMajority, simt::Policy::OldestLane, simt::Policy::MinShader}) {
      PathTallies expected;
      expected.by_call.resize(trace.shaders.size() * trace::kEventKinds);
      for (std::size_t first = 0; first < places.size(); first += warp_size) {
        const auto begin = places.begin() + static_cast<std::ptrdiff_t>(first);
        slow.add(segments, {begin, begin + warp_size}, policy, expected);
      }
      for (const std::size_t workers : {1U, 3U}) {
        const oneapi::tbb::global_control limit(oneapi::tbb::global_control::max_allowed_parallelism, workers);
        const PathTallies fast =
            tally_warps(launch, trace.shaders, segments.event_offset, places, warp_size, policy, *paths);
        ASSERT_EQ(fast.by_call.size(), expected.by_call.size());
        for (std::size_t call = 0; call < expected.by_call.size(); ++call) {
          const PathTally &one = fast.by_call[call], &other = expected.by_call[call];
          EXPECT_EQ(one.lanes, other.lanes) << call;
          EXPECT_EQ(one.known_lanes, other.known_lanes) << call;
          EXPECT_EQ(one.groups, other.groups) << call;
          EXPECT_EQ(one.lane_instructions, other.lane_instructions) << call;
          EXPECT_EQ(one.group_instructions, other.group_instructions) << call;
        }
      }
      const PathTally all = expected.all();
      EXPECT_LE(all.efficiency(warp_size).value_or(0), 1);
      compared += all.groups > 0 ? 1U : 0U;
      unknown += all.known_lanes < all.lanes ? 1U : 0U;
    }
  }
  EXPECT_GT(compared, 45U);
  EXPECT_GT(unknown, 20U);
}

}  // namespace
}  // namespace rayreplay::machine::by_path
