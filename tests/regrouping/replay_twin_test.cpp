// replay_segments, WarpWeigher and WarpRecorder against the slow replayer, event by event, on random launches and every
// kernel.
#include <gtest/gtest.h>

#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/task_arena.h>

#include <bit>

#include "capture/trace/reader.hpp"
#include "sim/simt/kernel/kernel.hpp"
#include "sim/simt/reference/replay_reference.hpp"
#include "sim/simt/segment_replay.hpp"
#include "sim/simt/warp_recorder.hpp"
#include "tests/regrouping/random_schedules.hpp"

namespace rayreplay {
namespace {

using simt::Tally;

/// What replay_segments promises, from the events of the slow replayer.
simt::SegmentReplayResult reference(const trace::Launch& launch, const std::vector<trace::Shader>& shaders,
                                    const scheduler::Segments& segments, const scheduler::WarpAssignment& places,
                                    const simt::SegmentReplayOptions& options) {
  const trace::Launch pieces = test::segments_as_threads(launch, segments);
  const auto thread_of = thread_of_segments(segments);
  simt::SegmentReplayResult result;
  result.replay.by_shader.resize(shaders.size());
  result.by_bounce.resize(simt::kBounces);
  for (std::size_t warp = 0; warp < places.warps(); ++warp) {
    // The rays that the thread of each lane has begun so far.
    std::vector<std::uint64_t> rays(places.warp_size, 0);
    for (std::size_t lane = 0; lane < places.warp_size; ++lane) {
      const std::uint32_t segment = places.thread_at.at(warp * places.warp_size + lane);
      if (segment != scheduler::kNoSegment) {
        for (std::uint64_t row = launch.data.event_offset.at(thread_of.at(segment));
             row < segments.event_offset.at(segment); ++row) {
          rays[lane] += trace::begins_ray(launch.data.events.kind.at(row)) ? 1U : 0U;
        }
      }
    }
    std::vector<std::uint64_t> weights(options.weights.size(), 0);
    for (const auto& event : simt::replay_warp_reference(pieces, shaders, places, warp, options.policy)) {
      const auto lanes = static_cast<std::uint64_t>(std::popcount(event.mask));
      const std::uint64_t cost = options.shader_cost.empty() ? 1 : options.shader_cost.at(event.shader);
      const Tally tally{1, lanes, cost, cost * lanes};
      const auto kind = static_cast<std::size_t>(event.kind);
      result.replay.total += tally;
      result.replay.by_kind.at(kind) += tally;
      result.replay.by_shader.at(event.shader) += tally;
      result.active_lanes.at(lanes) += 1;
      std::vector<bool> bounces(simt::kBounces, false);
      for (std::size_t lane = 0; lane < places.warp_size; ++lane) {
        if ((event.mask >> lane & 1) != 0) {
          rays[lane] += trace::begins_ray(event.kind) ? 1U : 0U;
          bounces[std::min<std::uint64_t>(rays[lane] == 0 ? 0 : rays[lane] - 1, simt::kBounces - 1)] = true;
        }
      }
      for (std::size_t bounce = 0; bounce < simt::kBounces; ++bounce) {
        if (bounces[bounce]) {
          result.by_bounce[bounce].at(kind) += tally;
        }
      }
      for (std::size_t table = 0; table < weights.size(); ++table) {
        weights[table] += options.weights[table].at(event.shader * trace::kEventKinds + kind);
      }
    }
    result.weights.insert(result.weights.end(), weights.begin(), weights.end());
  }
  while (!result.by_bounce.empty() && result.by_bounce.back() == std::array<Tally, trace::kEventKinds>{}) {
    result.by_bounce.pop_back();
  }
  return result;
}

void expect_same(const simt::SegmentReplayResult& found, const simt::SegmentReplayResult& expected, bool detail,
                 const std::string& what) {
  EXPECT_EQ(found.replay.total, expected.replay.total) << what;
  EXPECT_EQ(found.replay.by_kind, expected.replay.by_kind) << what;
  EXPECT_EQ(found.replay.by_shader, expected.replay.by_shader) << what;
  EXPECT_EQ(found.weights, expected.weights) << what;
  if (detail) {
    EXPECT_EQ(found.active_lanes, expected.active_lanes) << what;
    EXPECT_EQ(found.by_bounce, expected.by_bounce) << what;
  } else {
    EXPECT_TRUE(found.by_bounce.empty()) << what;
  }
}

void compare(const trace::Launch& launch, const std::vector<trace::Shader>& shaders,
             const scheduler::Segments& segments, const scheduler::WarpAssignment& places, std::mt19937_64& random) {
  for (const simt::Policy policy : test::kPolicies) {
    for (const std::size_t tables : {0U, 1U, 4U}) {
      simt::SegmentReplayOptions options;
      options.policy = policy;
      options.weights = test::random_weights(tables, shaders.size(), random);
      for (std::size_t i = 0; tables == 1 && i < shaders.size(); ++i) {
        options.shader_cost.push_back(static_cast<std::uint32_t>(random() % 1000));
      }
      const auto expected = reference(launch, shaders, segments, places, options);
      for (const simt::kernel::Kernel* kernel : simt::kernel::kernels()) {
        for (const bool detail : {false, true}) {
          options.detail = detail;
          expect_same(simt::kernel::replay_segments_on(*kernel, launch, shaders, segments, places.thread_at,
                                                       places.warp_size, options),
                      expected, detail, std::string(to_string(policy)) + ", " + kernel->name);
        }
      }
      simt::WarpWeigher weigher(launch, shaders, segments, places.warp_size, options);
      for (std::size_t warp = 0; warp < places.warps(); ++warp) {
        const auto sums = weigher.weigh(std::span(places.thread_at).subspan(warp * places.warp_size, places.warp_size));
        for (std::size_t table = 0; table < simt::kMaxWeights; ++table) {
          ASSERT_EQ(sums.at(table), table < tables ? expected.weights.at(warp * tables + table) : 0U);
        }
      }
    }
    const trace::Launch pieces = test::segments_as_threads(launch, segments);
    simt::WarpRecorder recorder(launch, shaders, segments.event_offset, places.warp_size, policy);
    for (std::size_t warp = 0; warp < places.warps(); ++warp) {
      const auto events =
          recorder.record(std::span(places.thread_at).subspan(warp * places.warp_size, places.warp_size));
      ASSERT_EQ(std::vector(events.begin(), events.end()),
                simt::replay_warp_reference(pieces, shaders, places, warp, policy));
    }
  }
}

struct Case {
  std::size_t shaders;
  std::uint32_t warp_size;
};

class ReplayTwin : public testing::TestWithParam<Case> {};

TEST_P(ReplayTwin, CountsTheSame) {
  const auto [shader_count, warp_size] = GetParam();
  std::mt19937_64 random(shader_count * 100 + warp_size);
  const auto shaders = test::shaders_of_all_stages(shader_count);
  const trace::Launch launch = test::RandomLaunch(shader_count, random()).make(150, 5);
  for (const scheduler::CutAt at :
       {scheduler::CutAt::Nothing, scheduler::CutAt::PendingCall, scheduler::CutAt::EveryCall}) {
    const auto segments = scheduler::cut_paths(launch, {.at = at});
    // Any places will do: what is compared does not care who may meet whom.
    const auto places = test::shuffled_assignment(segments.size(), warp_size, random);
    compare(launch, shaders, segments, places, random);
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, ReplayTwin,
                         testing::Values(Case{6, 1}, Case{6, 4}, Case{11, 8}, Case{11, 32}, Case{36, 32}, Case{60, 32},
                                         Case{11, 64}, Case{700, 64}),
                         [](const auto& instance) {
                           return std::to_string(instance.param.shaders) + "Shaders" +
                                  std::to_string(instance.param.warp_size) + "Lanes";
                         });

TEST(ReplayTwin, CountsTheSameOfACapture) {
  const trace::Trace trace = trace::load(RAYREPLAY_SOURCE_DIR "/tests/data/h200/teapot-alpha.rrt");
  std::mt19937_64 random(9);
  test::Plan plan(trace, test::linear_assignment(trace.launches.at(0).data.threads(), 32));
  const auto schedule = plan.schedule("ser");
  simt::SegmentReplayOptions options;
  options.detail = true;
  options.weights = test::random_weights(2, trace.shaders.size(), random);
  const auto places = test::schedule_as_assignment(schedule);
  expect_same(simt::replay_segments(plan.launch(), plan.shaders(), plan.segments(), schedule.segment_at, 32, options),
              reference(plan.launch(), plan.shaders(), plan.segments(), places, options), true, "captured");
}

TEST(ReplaySegments, PutsLateBouncesTogether) {
  test::LaunchBuilder builder({1, 1, 1});
  builder.thread();
  for (int ray = 0; ray < 100; ++ray) {
    builder.begin(0).miss(1);
  }
  const trace::Launch launch = builder.build();
  const auto shaders = test::shaders_of({trace::ShaderStage::RayGeneration, trace::ShaderStage::Miss});
  const auto segments = scheduler::cut_paths(launch, {.at = scheduler::CutAt::PendingCall});
  simt::SegmentReplayOptions options;
  options.detail = true;
  const auto places = test::linear_assignment(segments.size(), 1);
  const auto result = simt::replay_segments(launch, shaders, segments, places.thread_at, 1, options);
  ASSERT_EQ(result.by_bounce.size(), simt::kBounces);
  EXPECT_EQ(result.by_bounce[0][static_cast<std::size_t>(trace::EventKind::Begin)].warp_events, 1U);
  EXPECT_EQ(result.by_bounce[63][static_cast<std::size_t>(trace::EventKind::Begin)].warp_events, 37U);
  EXPECT_EQ(result.by_bounce[63][static_cast<std::size_t>(trace::EventKind::Miss)].warp_events, 37U);
}

TEST(ReplaySegments, DoesNotDependOnTheWorkers) {
  std::mt19937_64 random(5);
  const auto shaders = test::shaders_of_all_stages(11);
  const trace::Launch launch = test::RandomLaunch(11, 6).make(5000, 5);
  const auto segments = scheduler::cut_paths(launch, {.at = scheduler::CutAt::PendingCall});
  const auto places = test::shuffled_assignment(segments.size(), 32, random);
  simt::SegmentReplayOptions options;
  options.detail = true;
  options.weights = test::random_weights(3, 11, random);
  const auto run = [&](int workers) {
    const oneapi::tbb::global_control limit(oneapi::tbb::global_control::max_allowed_parallelism, 8);
    oneapi::tbb::task_arena arena(workers);
    return arena.execute(
        [&] { return simt::replay_segments(launch, shaders, segments, places.thread_at, 32, options); });
  };
  const auto one = run(1);
  expect_same(run(2), one, true, "2 workers");
  expect_same(run(7), one, true, "7 workers");
}

}  // namespace
}  // namespace rayreplay
