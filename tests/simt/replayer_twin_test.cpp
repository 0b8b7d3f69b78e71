// The fast replayer against the slow, obvious one, event by event, on random launches and every kernel.
#include <gtest/gtest.h>

#include <bit>

#include "sim/simt/reference/replay_reference.hpp"
#include "tests/simt/support.hpp"

namespace rayreplay {
namespace {

struct Case {
  std::size_t shaders;  ///< up to 9: narrow codes; 11, 26: narrow codes of the calls that occur; else wide
  std::uint32_t warp_size;
};

class Twin : public testing::TestWithParam<Case> {};

TEST_P(Twin, MakesTheSameEventsInTheSameOrder) {
  constexpr std::uint32_t kThreads = 600;
  const auto [shader_count, warp_size] = GetParam();
  const auto shaders = test::shaders_of_all_stages(shader_count);
  std::mt19937_64 random(shader_count * 100 + warp_size);
  const trace::Launch launch = test::RandomLaunch(shader_count, random()).make(kThreads, 5);
  const auto assignment = test::shuffled_assignment(kThreads, warp_size, random);
  for (const simt::Policy policy : test::kPolicies) {
    for (std::size_t warp = 0; warp < assignment.warps(); ++warp) {
      const auto expected = simt::replay_warp_reference(launch, shaders, assignment, warp, policy);
      for (const simt::kernel::Kernel* kernel : simt::kernel::kernels()) {
        ASSERT_EQ(
            test::listing(simt::kernel::replay_warp_on(*kernel, launch, shaders, assignment, warp, policy), warp_size),
            test::listing(expected, warp_size))
            << to_string(policy) << ", warp " << warp << ", " << kernel->name;
      }
    }
  }
}

TEST_P(Twin, CountsTheSameSums) {
  constexpr std::uint32_t kThreads = 600;
  const auto [shader_count, warp_size] = GetParam();
  const auto shaders = test::shaders_of_all_stages(shader_count);
  std::mt19937_64 random(shader_count * 100 + warp_size + 1);
  const trace::Launch launch = test::RandomLaunch(shader_count, random()).make(kThreads, 5);
  const auto assignment = test::shuffled_assignment(kThreads, warp_size, random);
  for (const simt::Policy policy : test::kPolicies) {
    std::vector<simt::Tally> expected(shader_count);
    for (std::size_t warp = 0; warp < assignment.warps(); ++warp) {
      for (const auto& event : simt::replay_warp_reference(launch, shaders, assignment, warp, policy)) {
        const auto lanes = static_cast<std::uint64_t>(std::popcount(event.mask));
        expected.at(event.shader) += {1, lanes, 1, lanes};
      }
    }
    for (const simt::kernel::Kernel* kernel : simt::kernel::kernels()) {
      for (const bool details : {false, true}) {
        simt::ReplayOptions options;
        options.policy = policy;
        options.per_warp = details;
        options.per_thread = details;
        EXPECT_EQ(simt::kernel::replay_on(*kernel, launch, shaders, assignment, options).by_shader, expected)
            << to_string(policy) << ", " << kernel->name;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, Twin,
                         testing::Values(Case{6, 1}, Case{6, 4}, Case{11, 8}, Case{6, 13}, Case{11, 16}, Case{6, 32},
                                         Case{36, 32}, Case{11, 33}, Case{11, 48}, Case{11, 64}, Case{26, 32},
                                         Case{60, 32}, Case{700, 8}, Case{700, 32}, Case{700, 37}, Case{700, 64}),
                         [](const auto& instance) {
                           return std::to_string(instance.param.shaders) + "Shaders" +
                                  std::to_string(instance.param.warp_size) + "Lanes";
                         });

}  // namespace
}  // namespace rayreplay
