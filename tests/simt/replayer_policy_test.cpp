// Which warp events, in which order? Hand-worked warps for each policy, on every kernel that this machine can run.
#include <gtest/gtest.h>

#include "tests/simt/support.hpp"

namespace rayreplay {
namespace {

using simt::Policy;
using test::LaunchBuilder;
using trace::ShaderStage;

/// The listing of the one warp that holds all threads.
std::string replayed(const trace::Launch& launch, const std::vector<trace::Shader>& shaders, Policy policy) {
  const auto lanes = static_cast<std::uint32_t>(launch.data.threads());
  const auto assignment = test::linear_assignment(lanes, lanes);
  const std::string text = test::listing(test::replay_warp(launch, shaders, assignment, 0, policy), lanes);
  for (const simt::kernel::Kernel* kernel : simt::kernel::kernels()) {
    EXPECT_EQ(test::listing(simt::kernel::replay_warp_on(*kernel, launch, shaders, assignment, 0, policy), lanes), text)
        << kernel->name;
  }
  return text;
}

double efficiency(const trace::Launch& launch, const std::vector<trace::Shader>& shaders, Policy policy) {
  simt::ReplayOptions options;
  options.policy = policy;
  const auto lanes = static_cast<std::uint32_t>(launch.data.threads());
  return simt::replay(launch, shaders, test::linear_assignment(lanes, lanes), options).total.efficiency(lanes);
}

// The check of MODELS.md §4. Shaders: 0 ray generation, 1 and 2 intersection, 3 miss, 4 closest hit.
class Listing : public testing::Test {
 protected:
  Listing() {
    LaunchBuilder builder({4, 1, 1});
    builder.thread().begin(0).intersection(1).miss(3);
    builder.thread().begin(0).intersection(1).intersection(2).closest_hit(4);
    builder.thread().begin(0).intersection(2).closest_hit(4);
    builder.thread().begin(0).intersection(2).closest_hit(4);
    launch = builder.build();
  }
  trace::Launch launch;
  std::vector<trace::Shader> shaders =
      test::shaders_of({ShaderStage::RayGeneration, ShaderStage::Intersection, ShaderStage::Intersection,
                        ShaderStage::Miss, ShaderStage::ClosestHit});
};

// After the trace call two lanes wait for each intersection shader: shader 1, the lower, goes first. Then all three
// remaining traversals are at shader 2, while lane 0 already waits for miss. Last, three lanes outvote one.
TEST_F(Listing, StageMajorityMakesThePrintedEventsAndSwapsTheLastTwo) {
  EXPECT_EQ(replayed(launch, shaders, Policy::StageMajority),
            "Begin 0 1111\n"
            "Intersection 1 1100\n"
            "Intersection 2 0111\n"
            "ClosestHit 4 0111\n"
            "Miss 3 1000\n");
  EXPECT_EQ(efficiency(launch, shaders, Policy::StageMajority), 13.0 / 20);
}

TEST_F(Listing, MinShaderMakesThePrintedEventsInThePrintedOrder) {
  EXPECT_EQ(replayed(launch, shaders, Policy::MinShader),
            "Begin 0 1111\n"
            "Intersection 1 1100\n"
            "Intersection 2 0111\n"
            "Miss 3 1000\n"
            "ClosestHit 4 0111\n");
  EXPECT_EQ(efficiency(launch, shaders, Policy::MinShader), 13.0 / 20);
}

// Lane 0 decides the first two steps (all lanes as old, then all lanes as old again); then lanes 2 and 3 have waited
// since step 1, so shader 2 runs; then lane 0 has waited since step 2, the others since step 3.
TEST_F(Listing, OldestLaneMakesThePrintedEventsInThePrintedOrder) {
  EXPECT_EQ(replayed(launch, shaders, Policy::OldestLane),
            "Begin 0 1111\n"
            "Intersection 1 1100\n"
            "Intersection 2 0111\n"
            "Miss 3 1000\n"
            "ClosestHit 4 0111\n");
  EXPECT_EQ(efficiency(launch, shaders, Policy::OldestLane), 13.0 / 20);
}

// {0,1} and {2,3} part after the trace call, 0 and 1 after shader 1, and never meet again: 7 events for 13 calls.
TEST_F(Listing, IndependentNeverJoinsShaderTwo) {
  EXPECT_EQ(replayed(launch, shaders, Policy::Independent),
            "Begin 0 1111\n"
            "Intersection 1 1100\n"
            "Miss 3 1000\n"
            "Intersection 2 0100\n"
            "ClosestHit 4 0100\n"
            "Intersection 2 0011\n"
            "ClosestHit 4 0011\n");
  EXPECT_EQ(efficiency(launch, shaders, Policy::Independent), 13.0 / 28);
}

// Shaders: 0 ray generation, 1 intersection, 2 any-hit, 3 closest hit, 4 miss, 5 callable, 6 closest hit.
const std::vector<trace::Shader> kShaders =
    test::shaders_of({ShaderStage::RayGeneration, ShaderStage::Intersection, ShaderStage::AnyHit,
                      ShaderStage::ClosestHit, ShaderStage::Miss, ShaderStage::Callable, ShaderStage::ClosestHit});

// Lane 3 alone is in traversal and holds up three lanes at miss, twice: for any-hit, then for intersection.
TEST(StageMajority, OneLaneInTraversalGoesBeforeThreeAtMiss) {
  LaunchBuilder builder({4, 1, 1});
  builder.thread().begin(0).miss(4);
  builder.thread().begin(0).miss(4);
  builder.thread().begin(0).miss(4);
  builder.thread().begin(0).any_hit(2).ignore(2).intersection(1).report(1, 0, 0, 1, false).miss(4);
  EXPECT_EQ(replayed(builder.build(), kShaders, Policy::StageMajority),
            "Begin 0 1111\n"
            "AnyHit 2 0001\n"
            "Intersection 1 0001\n"
            "Miss 4 1111\n");
}

// Of two traversal calls, the one with more lanes goes first although its shader id is higher; lane 0 then meets none.
TEST(StageMajority, MostLanesWinAmongTraversalCalls) {
  LaunchBuilder builder({3, 1, 1});
  builder.thread().begin(0).intersection(1).closest_hit(3);
  builder.thread().begin(0).any_hit(2).closest_hit(3);
  builder.thread().begin(0).any_hit(2).closest_hit(3);
  EXPECT_EQ(replayed(builder.build(), kShaders, Policy::StageMajority),
            "Begin 0 111\n"
            "AnyHit 2 011\n"
            "Intersection 1 100\n"
            "ClosestHit 3 111\n");
}

// One lane each: the tie goes to closest-hit 3 before miss 4, though Miss is the lower kind.
TEST(StageMajority, TiesGoToTheLowestShader) {
  LaunchBuilder builder({2, 1, 1});
  builder.thread().begin(0).miss(4);
  builder.thread().begin(0).closest_hit(3);
  const trace::Launch launch = builder.build();
  EXPECT_EQ(replayed(launch, kShaders, Policy::StageMajority), "Begin 0 11\nClosestHit 3 01\nMiss 4 10\n");
  EXPECT_EQ(replayed(launch, kShaders, Policy::MinShader), "Begin 0 11\nMiss 4 10\nClosestHit 3 01\n");
}

// Two kinds of trace call from one shader are two calls. A tie of one lane each and one shader: the lower kind, Begin,
// goes first. Then lane 0's OcclusionBegin (shader 0) ties with lane 1's miss (shader 4) and goes first.
TEST(StageMajority, TiesOfOneShaderGoToTheLowestKind) {
  LaunchBuilder builder({2, 1, 1});
  builder.thread().occlusion_begin(0).miss(4);
  builder.thread().begin(0).miss(4);
  EXPECT_EQ(replayed(builder.build(), kShaders, Policy::StageMajority),
            "Begin 0 01\n"
            "OcclusionBegin 0 10\n"
            "Miss 4 11\n");
}

// Lane 1's closest-hit shader traces on: Begin of shader 3 is not the Begin of shader 0 that lane 0 waits for, nor the
// ClosestHit of shader 3. Step 2: one lane each, shader 0 before 3. Step 3: both at ClosestHit 3. Step 4: lane 0 is
// done, lane 1 alone.
TEST(StageMajority, ATraceCallOfAnotherShaderIsAnotherCall) {
  LaunchBuilder builder({2, 1, 1});
  builder.thread().begin(0).begin(0).closest_hit(3);
  builder.thread().begin(0).closest_hit(3).begin(3).miss(4);
  EXPECT_EQ(replayed(builder.build(), kShaders, Policy::StageMajority),
            "Begin 0 11\n"
            "Begin 0 10\n"
            "ClosestHit 3 11\n"
            "Begin 3 01\n"
            "Miss 4 01\n");
}

// Begin of shader 3 (lane 0) comes before ClosestHit 6 (lane 1), as all of kind Begin do; both end at the callable.
TEST(MinShader, KindBeforeShader) {
  LaunchBuilder builder({2, 1, 1});
  builder.thread().begin(0).closest_hit(3).begin(3).miss(4).callable(5);
  builder.thread().begin(0).closest_hit(6).callable(5);
  EXPECT_EQ(replayed(builder.build(), kShaders, Policy::MinShader),
            "Begin 0 11\n"
            "ClosestHit 3 10\n"
            "Begin 3 10\n"
            "Miss 4 10\n"
            "ClosestHit 6 01\n"
            "Callable 5 11\n");
}

// Step 1: all as old, lane 0 decides. Step 2: again all as old, lane 0: miss, with lane 2. Step 3: lane 1 has waited
// since step 1. Step 4: lanes 0 and 2 since step 2: lane 0's trace call, which is not the one that lane 1 waits for.
// Step 5: lane 1 since step 3. Step 6: lanes 0 and 2 since step 4: lane 0's any-hit, to which lane 1 has come by now.
// Step 7: lane 2 still since step 4: its miss, with lane 0. Step 8: lane 1.
TEST(OldestLane, WhoWaitsLongestDecides) {
  LaunchBuilder builder({3, 1, 1});
  builder.thread().begin(0).miss(4).begin(0).any_hit(2).miss(4);
  builder.thread().begin(0).closest_hit(3).begin(3).any_hit(2).closest_hit(6);
  builder.thread().begin(0).miss(4).begin(0).miss(4);
  EXPECT_EQ(replayed(builder.build(), kShaders, Policy::OldestLane),
            "Begin 0 111\n"
            "Miss 4 101\n"
            "ClosestHit 3 010\n"
            "Begin 0 101\n"
            "Begin 3 010\n"
            "AnyHit 2 110\n"
            "Miss 4 101\n"
            "ClosestHit 6 010\n");
}

// Steps 2 and 3: lane 1 is the older and picks intersection 1; lane 0, which has just come there, joins. Both are
// as old then, so lane 0 decides, though stage-majority would finish lane 1's traversal first.
TEST(OldestLane, YoungerLanesJoin) {
  LaunchBuilder builder({2, 1, 1});
  builder.thread().begin(0).any_hit(2).intersection(1).miss(4);
  builder.thread().begin(0).intersection(1).intersection(1).miss(4);
  EXPECT_EQ(replayed(builder.build(), kShaders, Policy::OldestLane),
            "Begin 0 11\n"
            "AnyHit 2 10\n"
            "Intersection 1 11\n"
            "Miss 4 10\n"
            "Intersection 1 01\n"
            "Miss 4 01\n");
}

// Lane 1 waits at its second trace call until lane 0's traversal, its closest hit and lane 2's recursion are over; then
// the two that have rays left trace together, and the lane that is done is not waited for. Shader 3 traces by itself,
// before shader 0.
TEST(TraceBarrier, LanesMeetAtTraceCallsOfRayGeneration) {
  LaunchBuilder builder({3, 1, 1});
  builder.thread().begin(0).intersection(1).intersection(1).closest_hit(6).begin(0).miss(4);
  builder.thread().begin(0).miss(4).begin(0).miss(4);
  builder.thread().begin(0).closest_hit(3).begin(3).miss(4);
  EXPECT_EQ(replayed(builder.build(), kShaders, Policy::TraceBarrier),
            "Begin 0 111\n"
            "Intersection 1 100\n"
            "Intersection 1 100\n"
            "ClosestHit 3 001\n"
            "Begin 3 001\n"
            "Miss 4 011\n"
            "ClosestHit 6 100\n"
            "Begin 0 110\n"
            "Miss 4 110\n");
}

// {0,2} and {1} part at the intersection. 0 and 2 come back to ray generation and wait; lane 1's own way ends there
// too; only then do all three trace on, together. The lane that ends (1) is waited for by nobody afterwards.
TEST(Independent, GroupsMeetInRayGeneration) {
  LaunchBuilder builder({3, 1, 1});
  builder.thread().begin(0).miss(4).begin(0).miss(4).begin(0).miss(4);
  builder.thread().begin(0).intersection(1).miss(4).begin(0).closest_hit(3);
  builder.thread().begin(0).miss(4).begin(0).miss(4).begin(0).miss(4);
  EXPECT_EQ(replayed(builder.build(), kShaders, Policy::Independent),
            "Begin 0 111\n"
            "Miss 4 101\n"
            "Intersection 1 010\n"
            "Miss 4 010\n"
            "Begin 0 111\n"
            "Miss 4 101\n"
            "ClosestHit 3 010\n"
            "Begin 0 101\n"
            "Miss 4 101\n");
}

// All meet in ray generation but for different trace calls: the group splits at once, and each part goes on alone.
TEST(Independent, DifferentTraceCallsSplitTheMeetingGroup) {
  LaunchBuilder builder({4, 1, 1});
  builder.thread().begin(0).closest_hit(3);
  builder.thread().occlusion_begin(0).miss(4);
  builder.thread().begin(0).miss(4);
  builder.thread().occlusion_begin(0).miss(4);
  EXPECT_EQ(replayed(builder.build(), kShaders, Policy::Independent),
            "Begin 0 1010\n"
            "ClosestHit 3 1000\n"
            "OcclusionBegin 0 0101\n"
            "Miss 4 0101\n"
            "Miss 4 0010\n");
}

// A recursive trace call makes nobody wait: lanes 0 and 1 part at closest hit and both trace from shader 3, at
// different times, one by one; the lane at shader 6 as well. They meet at the next trace call of ray generation.
TEST(Independent, RecursionDoesNotMeet) {
  LaunchBuilder builder({3, 1, 1});
  builder.thread().begin(0).closest_hit(3).begin(3).miss(4).begin(0).miss(4);
  builder.thread().begin(0).any_hit(2).closest_hit(3).begin(3).miss(4).begin(0).miss(4);
  builder.thread().begin(0).closest_hit(6).occlusion_begin(6).begin(0).miss(4);
  EXPECT_EQ(replayed(builder.build(), kShaders, Policy::Independent),
            "Begin 0 111\n"
            "ClosestHit 3 100\n"
            "Begin 3 100\n"
            "Miss 4 100\n"
            "AnyHit 2 010\n"
            "ClosestHit 3 010\n"
            "Begin 3 010\n"
            "Miss 4 010\n"
            "ClosestHit 6 001\n"
            "OcclusionBegin 6 001\n"
            "Begin 0 111\n"
            "Miss 4 111\n");
}

// Ray generation calls a callable before it traces: those who do not, wait for them.
TEST(Independent, CallablesComeBeforeTheMeeting) {
  LaunchBuilder builder({2, 1, 1});
  builder.thread().begin(0).miss(4);
  builder.thread().callable(5).begin(0).miss(4);
  EXPECT_EQ(replayed(builder.build(), kShaders, Policy::Independent),
            "Callable 5 01\n"
            "Begin 0 11\n"
            "Miss 4 11\n");
}

TEST(EveryPolicy, ThreadsWithoutEventsTakeNoPart) {
  LaunchBuilder builder({4, 1, 1});
  builder.thread();
  builder.thread().begin(0).miss(4);
  builder.thread();
  builder.thread().begin(0).miss(4);
  const trace::Launch launch = builder.build();
  for (const Policy policy : test::kPolicies) {
    EXPECT_EQ(replayed(launch, kShaders, policy), "Begin 0 0101\nMiss 4 0101\n") << to_string(policy);
  }
}

TEST(EveryPolicy, AWarpWithoutEventsMakesNone) {
  const trace::Launch launch = LaunchBuilder({3, 1, 1}).build();
  for (const Policy policy : test::kPolicies) {
    EXPECT_EQ(replayed(launch, kShaders, policy), "") << to_string(policy);
    EXPECT_EQ(efficiency(launch, kShaders, policy), 0) << to_string(policy);
  }
}

}  // namespace
}  // namespace rayreplay
