// What must hold of the sums, whatever the launch, the assignment and the policy; and what is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/task_arena.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <tuple>

#include "base/error.hpp"
#include "sim/simt/call_dictionary.hpp"
#include "sim/simt/policies/replay_policy.hpp"
#include "tests/simt/support.hpp"
#include "tests/support/counting_progress.hpp"
#include "tests/support/error_of.hpp"

namespace rayreplay {
namespace {

using simt::Policy;
using simt::Tally;
using test::error_of;

template <class Tallies>
Tally sum(const Tallies& tallies) {
  Tally total;
  for (const Tally& tally : tallies) {
    total += tally;
  }
  return total;
}

std::uint64_t warp_event_calls(const trace::Launch& launch) {
  const auto& kinds = launch.data.events.kind;
  return static_cast<std::uint64_t>(std::count_if(kinds.begin(), kinds.end(), trace::is_warp_event));
}

simt::ReplayOptions everything(Policy policy) {
  simt::ReplayOptions options;
  options.policy = policy;
  options.per_warp = true;
  options.per_thread = true;
  return options;
}

class Sums : public testing::TestWithParam<std::size_t> {
 protected:
  std::vector<trace::Shader> shaders = test::shaders_of_all_stages(GetParam());
  trace::Launch launch = test::RandomLaunch(GetParam(), 7).make(1000, 6);
};

TEST_P(Sums, EveryCallIsMadeOnceWhateverTheAssignment) {
  std::mt19937_64 random(11);
  for (const Policy policy : test::kPolicies) {
    for (const std::uint32_t warp_size : {1U, 7U, 32U, 33U, 64U}) {
      const auto assignment = test::shuffled_assignment(1000, warp_size, random);
      const auto result = simt::replay(launch, shaders, assignment, everything(policy));
      EXPECT_EQ(result.total.active_lanes, warp_event_calls(launch));
      EXPECT_LE(result.total.efficiency(warp_size), 1);
      if (warp_size == 1) {
        EXPECT_EQ(result.total.warp_events, warp_event_calls(launch));
      }
    }
  }
}

TEST_P(Sums, PartsMakeTheWhole) {
  for (const Policy policy : test::kPolicies) {
    auto options = everything(policy);
    for (std::size_t shader = 0; shader < shaders.size(); ++shader) {
      options.shader_cost.push_back(static_cast<std::uint32_t>(shader * shader % 23));
    }
    const auto result = simt::replay(launch, shaders, test::linear_assignment(1000, 32), options);
    EXPECT_EQ(sum(result.by_kind), result.total);
    EXPECT_EQ(sum(result.by_shader), result.total);
    EXPECT_EQ(sum(result.by_warp), result.total);
    Tally calls;
    for (const auto& call : result.by_call) {
      calls += call.tally;
    }
    EXPECT_EQ(calls, result.total);
    EXPECT_TRUE(std::is_sorted(result.by_call.begin(), result.by_call.end(), [](const auto& a, const auto& b) {
      return std::tie(a.kind, a.shader) < std::tie(b.kind, b.shader);
    }));
    EXPECT_EQ(result.by_kind[static_cast<std::size_t>(trace::EventKind::ReportIntersection)], Tally{});
  }
}

// A warp event of n lanes counts for n threads: their events sum to Σ n, their lanes to Σ n². Both are worked out here
// from the listings.
TEST_P(Sums, ThreadsSeeTheEventsThatTheyTookPartIn) {
  const auto assignment = test::linear_assignment(1000, 32);
  for (const Policy policy : test::kPolicies) {
    auto options = everything(policy);
    options.shader_cost.assign(shaders.size(), 3);
    const auto result = simt::replay(launch, shaders, assignment, options);
    std::vector<Tally> expected(1000);
    for (std::size_t warp = 0; warp < assignment.warps(); ++warp) {
      for (const auto& event : test::replay_warp(launch, shaders, assignment, warp, policy)) {
        const auto lanes = static_cast<std::uint64_t>(std::popcount(event.mask));
        for (std::size_t lane = 0; lane < 32; ++lane) {
          if ((event.mask >> lane & 1) != 0) {
            expected.at(assignment.thread_at[warp * 32 + lane]) += Tally{1, lanes, 3, 3 * lanes};
          }
        }
      }
    }
    EXPECT_EQ(result.by_thread, expected);
  }
}

TEST_P(Sums, CostsOfOneChangeNothing) {
  for (const Policy policy : test::kPolicies) {
    auto options = everything(policy);
    const auto plain = simt::replay(launch, shaders, test::linear_assignment(1000, 32), options);
    options.shader_cost.assign(shaders.size(), 1);
    const auto weighted = simt::replay(launch, shaders, test::linear_assignment(1000, 32), options);
    EXPECT_EQ(plain.total, weighted.total);
    EXPECT_EQ(plain.by_thread, weighted.by_thread);
    EXPECT_EQ(weighted.total.weighted_events, weighted.total.warp_events);
    EXPECT_EQ(weighted.total.weighted_efficiency(32), weighted.total.efficiency(32));
  }
}

TEST_P(Sums, WorkersChangeNothing) {
  const oneapi::tbb::global_control allow(oneapi::tbb::global_control::max_allowed_parallelism, 3);
  for (const Policy policy : test::kPolicies) {
    const auto assignment = test::linear_assignment(1000, 4);
    std::vector<simt::ReplayResult> results;
    for (const int workers : {1, 2, 3}) {
      oneapi::tbb::task_arena arena(workers);
      arena.execute([&] { results.push_back(simt::replay(launch, shaders, assignment, everything(policy))); });
    }
    for (const auto& result : results) {
      EXPECT_EQ(result.total, results[0].total);
      EXPECT_EQ(result.by_kind, results[0].by_kind);
      EXPECT_EQ(result.by_shader, results[0].by_shader);
      EXPECT_EQ(result.by_warp, results[0].by_warp);
      EXPECT_EQ(result.by_thread, results[0].by_thread);
    }
  }
}

TEST_P(Sums, WarpsAndThreadsAreCountedOnlyWhenAskedFor) {
  simt::ReplayOptions options;
  const auto assignment = test::linear_assignment(1000, 32);
  const auto plain = simt::replay(launch, shaders, assignment, options);
  EXPECT_TRUE(plain.by_warp.empty());
  EXPECT_TRUE(plain.by_thread.empty());
  options.per_warp = true;
  const auto warps = simt::replay(launch, shaders, assignment, options);
  EXPECT_EQ(warps.by_warp.size(), assignment.warps());
  EXPECT_TRUE(warps.by_thread.empty());
  options.per_warp = false;
  options.per_thread = true;
  const auto threads = simt::replay(launch, shaders, assignment, options);
  EXPECT_TRUE(threads.by_warp.empty());
  EXPECT_EQ(threads.by_thread.size(), 1000U);
  EXPECT_EQ(plain.total, warps.total);
  EXPECT_EQ(plain.total, threads.total);
}

// Narrow codes for all; narrow codes for the calls that occur; wide codes.
INSTANTIATE_TEST_SUITE_P(Shaders, Sums, testing::Values(8, 26, 700));

TEST(CallDictionary, CodesGrowWithTheCalls) {
  const auto calls = [](std::size_t shaders) {
    const auto launch = test::RandomLaunch(shaders, 7).make(1000, 6);
    return simt::make_call_dictionary(launch, test::shaders_of_all_stages(shaders), Policy::StageMajority);
  };
  EXPECT_TRUE(calls(8).narrow());
  EXPECT_TRUE(calls(26).narrow());
  EXPECT_GT(calls(700).calls.size(), 500U);
  EXPECT_FALSE(calls(700).narrow());
}

TEST(WeightedEfficiency, CostsWeighEvents) {
  // Begin 11 at 1 cycle, ClosestHit 10 at 9 cycles: (2·1 + 1·9) / (2·(1 + 9)).
  test::LaunchBuilder builder({2, 1, 1});
  builder.thread().begin(0).closest_hit(1);
  builder.thread().begin(0);
  simt::ReplayOptions options;
  options.shader_cost = {1, 9};
  const auto result = simt::replay(
      builder.build(), test::shaders_of({trace::ShaderStage::RayGeneration, trace::ShaderStage::ClosestHit}),
      test::linear_assignment(2, 2), options);
  EXPECT_EQ(result.total.efficiency(2), 3.0 / 4);
  EXPECT_EQ(result.total.weighted_efficiency(2), 11.0 / 20);
  EXPECT_EQ(result.by_shader[1], (Tally{1, 1, 9, 9}));
  EXPECT_EQ(Tally{}.weighted_efficiency(2), 0);
}

TEST(Progress, EveryWarpIsReportedOnce) {
  test::CountingProgress progress;
  simt::ReplayOptions options;
  options.progress = &progress;
  (void)simt::replay(test::RandomLaunch(8, 3).make(1000, 2), test::shaders_of_all_stages(8),
                     test::linear_assignment(1000, 8), options);
  EXPECT_EQ(progress.total, 125U);
  EXPECT_EQ(progress.done, 125U);
  EXPECT_EQ(progress.finished, 1);
}

TEST(Refused, AnUnknownPolicyNamesTheNearest) {
  const Error error = error_of([] { (void)simt::parse_policy("stage-majorty"); });
  EXPECT_EQ(error.kind(), ErrorKind::Usage);
  EXPECT_THAT(error.what(), testing::HasSubstr("did you mean 'stage-majority'?"));
}

TEST(Refused, ACostTableOfAnotherLength) {
  simt::ReplayOptions options;
  options.shader_cost = {1, 2, 3};
  const Error error = error_of([&] {
    (void)simt::replay(test::LaunchBuilder({1, 1, 1}).build(), test::shaders_of_all_stages(2),
                       test::linear_assignment(1, 32), options);
  });
  EXPECT_EQ(error.kind(), ErrorKind::Usage);
  EXPECT_THAT(error.what(), testing::AllOf(testing::HasSubstr("3 costs"), testing::HasSubstr("2, one for each")));
}

TEST(Refused, AWarpSizeOfNoneOrTooMany) {
  for (const std::uint32_t warp_size : {0U, 65U}) {
    auto assignment = test::linear_assignment(1, 1);
    assignment.warp_size = warp_size;
    EXPECT_EQ(error_of([&] {
                (void)simt::replay(test::LaunchBuilder({1, 1, 1}).build(), test::shaders_of_all_stages(2), assignment);
              }).kind(),
              ErrorKind::Usage);
  }
}

TEST(Refused, AnAssignmentOfAnotherLaunch) {
  const Error error = error_of([] {
    (void)simt::replay(test::LaunchBuilder({3, 1, 1}).build(), test::shaders_of_all_stages(2),
                       test::linear_assignment(5, 2));
  });
  EXPECT_EQ(error.kind(), ErrorKind::Internal);
  EXPECT_THAT(error.what(), testing::HasSubstr("place 3"));
}

TEST(Refused, AWarpThatIsNotThere) {
  EXPECT_EQ(error_of([] {
              (void)test::replay_warp(test::LaunchBuilder({3, 1, 1}).build(), test::shaders_of_all_stages(2),
                                      test::linear_assignment(3, 2), 2, Policy::MinShader);
            }).kind(),
            ErrorKind::Usage);
}

TEST(Policies, AreListedUnderTheNamesThatParse) {
  EXPECT_THAT(simt::ReplayPolicies::names(),
              testing::ElementsAre("independent", "min-shader", "oldest-lane", "stage-majority", "trace-barrier"));
  for (const Policy policy : test::kPolicies) {
    EXPECT_EQ(simt::parse_policy(to_string(policy)), policy);
    EXPECT_FALSE(simt::ReplayPolicies::describe(to_string(policy)).text.empty());
  }
}

}  // namespace
}  // namespace rayreplay
