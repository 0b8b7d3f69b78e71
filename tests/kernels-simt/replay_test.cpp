// Replays of threads on a device against the processor's and the slow twin's: equal in every sum.
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <random>

#include "capture/reference/scene.hpp"
#include "capture/trace/reader.hpp"
#include "sim/simt/reference/replay_reference.hpp"
#include "tests/kernels-simt/support.hpp"
#include "tests/reference/support.hpp"

namespace rayreplay {
namespace {

using simt::Policy;

simt::ReplayOptions everything(Policy policy, std::size_t shaders) {
  simt::ReplayOptions options;
  options.policy = policy;
  options.per_warp = true;
  options.per_thread = true;
  options.shader_cost = test::some_costs(shaders);
  return options;
}

void compare(const trace::Launch& launch, const std::vector<trace::Shader>& shaders,
             const scheduler::WarpAssignment& assignment, simt::ReplayOptions options,
             const simt::OnDeviceLimits& limits = {}) {
  SCOPED_TRACE(to_string(options.policy));
  Accelerator nobody;
  trace::AcceleratedLaunch resident(nobody, launch);
  const simt::ReplayResult expected = simt::replay(launch, shaders, assignment, options);
  options.on_device = &resident;
  test::expect_equal(simt::replay_on(test::one_device(), launch, shaders, assignment, options, limits), expected);
}

struct Case {
  std::size_t shaders;  ///< 6: all calls; 60: those that occur; 700: wide codes; 3000: too many for shared memory
  std::uint32_t warp_size;
};

class Replay : public testing::TestWithParam<Case> {};

TEST_P(Replay, GivesTheProcessorsSums) {
  constexpr std::uint32_t kThreads = 500;
  const auto [shader_count, warp_size] = GetParam();
  const auto shaders = test::shaders_of_all_stages(shader_count);
  std::mt19937_64 random(shader_count * 100 + warp_size);
  const trace::Launch launch = test::RandomLaunch(shader_count, random()).make(kThreads, shader_count > 1000 ? 20 : 5);
  const auto assignment = test::shuffled_assignment(kThreads, warp_size, random);
  for (const Policy policy : test::kPolicies) {
    compare(launch, shaders, assignment, everything(policy, shader_count));
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, Replay,
                         testing::Values(Case{6, 1}, Case{6, 3}, Case{6, 8}, Case{6, 16}, Case{60, 17}, Case{6, 32},
                                         Case{700, 8}, Case{3000, 32}, Case{6, 64}),
                         [](const auto& instance) {
                           return std::to_string(instance.param.shaders) + "Shaders" +
                                  std::to_string(instance.param.warp_size) + "Lanes";
                         });

TEST(ReplayOnDevice, GivesTheSlowTwinsSums) {
  constexpr std::uint32_t kThreads = 300;
  const auto shaders = test::shaders_of_all_stages(11);
  std::mt19937_64 random(3);
  const trace::Launch launch = test::RandomLaunch(11, random()).make(kThreads, 5);
  const auto assignment = test::shuffled_assignment(kThreads, 32, random);
  Accelerator nobody;
  trace::AcceleratedLaunch resident(nobody, launch);
  for (const Policy policy : test::kPolicies) {
    simt::ReplayOptions options = everything(policy, shaders.size());
    std::vector<simt::Tally> by_shader(shaders.size());
    std::vector<simt::Tally> by_warp;
    std::vector<simt::Tally> by_thread(kThreads);
    for (std::size_t warp = 0; warp < assignment.warps(); ++warp) {
      by_warp.emplace_back();
      for (const auto& event : simt::replay_warp_reference(launch, shaders, assignment, warp, policy)) {
        const auto lanes = static_cast<std::uint64_t>(std::popcount(event.mask));
        const std::uint64_t cost = options.shader_cost.at(event.shader);
        const simt::Tally tally{1, lanes, cost, cost * lanes};
        by_shader.at(event.shader) += tally;
        by_warp.back() += tally;
        for (std::size_t lane = 0; lane < assignment.warp_size; ++lane) {
          if ((event.mask >> lane & 1) != 0) {
            by_thread.at(assignment.thread_at.at(warp * assignment.warp_size + lane)) += tally;
          }
        }
      }
    }
    options.on_device = &resident;
    const auto found = simt::replay_on(test::one_device(), launch, shaders, assignment, options);
    EXPECT_EQ(found.by_shader, by_shader) << to_string(policy);
    EXPECT_EQ(found.by_warp, by_warp) << to_string(policy);
    EXPECT_EQ(found.by_thread, by_thread) << to_string(policy);
  }
}

// MODELS.md §4's check: its warp events, call by call.
TEST(ReplayOnDevice, GivesTheDefinitionsListing) {
  constexpr std::uint16_t kRaygen = 0, kIntersection1 = 1, kIntersection2 = 2, kMiss = 3, kClosestHit = 4;
  test::LaunchBuilder builder({4, 1, 1});
  builder.thread().begin(kRaygen).intersection(kIntersection1).miss(kMiss);
  builder.thread().begin(kRaygen).intersection(kIntersection1).intersection(kIntersection2).closest_hit(kClosestHit);
  builder.thread().begin(kRaygen).intersection(kIntersection2).closest_hit(kClosestHit);
  builder.thread().begin(kRaygen).intersection(kIntersection2).closest_hit(kClosestHit);
  const trace::Launch launch = builder.build();
  using enum trace::ShaderStage;
  const auto shaders = test::shaders_of({RayGeneration, Intersection, Intersection, Miss, ClosestHit});
  Accelerator nobody;
  trace::AcceleratedLaunch resident(nobody, launch);
  for (const Policy policy : {Policy::StageMajority, Policy::MinShader, Policy::OldestLane, Policy::TraceBarrier}) {
    simt::ReplayOptions options;
    options.policy = policy;
    options.on_device = &resident;
    const auto result = simt::replay_on(test::one_device(), launch, shaders, test::linear_assignment(4, 4), options);
    EXPECT_DOUBLE_EQ(result.total.efficiency(4), 13.0 / 20);
    const std::vector<simt::Tally> expected{{1, 4, 1, 4}, {1, 2, 1, 2}, {1, 3, 1, 3}, {1, 1, 1, 1}, {1, 3, 1, 3}};
    EXPECT_EQ(result.by_shader, expected) << to_string(policy);
  }
}

TEST(ReplayOnDevice, TakesBatchesAndHolesAndLongThreads) {
  std::mt19937_64 random(5);
  const auto shaders = test::shaders_of_all_stages(6);
  test::LaunchBuilder builder({70, 1, 1});
  for (int thread = 0; thread < 70; ++thread) {
    builder.thread();
    // Chunks of sixteen rows without a call between those with some, and queues that end at their borders.
    for (int ray = thread % 7 == 0 ? 400 : thread % 5; ray > 0; --ray) {
      builder.begin(0).intersection(1);
      for (int report = static_cast<int>(random() % 3) * 17; report > 0; --report) {
        builder.report(1);
      }
      builder.miss(4);
    }
  }
  const trace::Launch launch = builder.build();
  const auto assignment = test::shuffled_assignment(70, 32, random);
  for (const std::uint64_t most_places : {1U, 64U, 1U << 22}) {
    compare(launch, shaders, assignment, everything(Policy::StageMajority, shaders.size()),
            {.most_places = most_places});
  }
}

// Longer than the kernel goes on before it empties its counters.
TEST(ReplayOnDevice, TakesAThreadOfManyEvents) {
  const auto shaders = test::shaders_of_all_stages(6);
  test::LaunchBuilder builder({2, 1, 1});
  builder.thread().begin(0).miss(4);
  builder.thread();
  for (int ray = 0; ray < 150'000; ++ray) {
    builder.begin(0).miss(4);
  }
  const trace::Launch launch = builder.build();
  compare(launch, shaders, test::linear_assignment(2, 32), everything(Policy::StageMajority, shaders.size()));
}

TEST(ReplayOnDevice, TakesNothing) {
  const auto shaders = test::shaders_of_all_stages(6);
  test::LaunchBuilder builder({40, 1, 1});
  for (int thread = 0; thread < 40; ++thread) {
    builder.thread();
  }
  const trace::Launch eventless = builder.build();
  compare(eventless, shaders, test::linear_assignment(40, 32), everything(Policy::StageMajority, shaders.size()));
  const trace::Launch empty;
  compare(empty, shaders, test::linear_assignment(0, 32), everything(Policy::StageMajority, shaders.size()));
}

TEST(ReplayOnDevice, GivesTheProcessorsSumsOfACapture) {
  const trace::Trace trace = trace::load(RAYREPLAY_SOURCE_DIR "/tests/data/h200/one-weekend.rrt");
  const trace::Launch& launch = trace.launches.at(0);
  compare(launch, trace.shaders, test::linear_assignment(launch.data.threads(), 32),
          everything(Policy::StageMajority, trace.shaders.size()));
}

TEST(ReplayOnDevice, GivesTheProcessorsSumsOfATracedScene) {
  reference::TracerOptions options;
  options.integrator = "path";
  options.width = 48;
  options.height = 40;
  options.samples = 2;
  const reference::RenderScene scene = reference::make_scene("statue:level=3", &options.scene_spec);
  const trace::Trace trace = test::traced(scene, options);
  const trace::Launch& launch = trace.launches[0];
  std::mt19937_64 random(1);
  for (const Policy policy : test::kPolicies) {
    compare(launch, trace.shaders, test::shuffled_assignment(launch.data.threads(), 32, random),
            everything(policy, trace.shaders.size()));
  }
}

}  // namespace
}  // namespace rayreplay
