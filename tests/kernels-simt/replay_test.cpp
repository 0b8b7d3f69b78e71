// Replays of threads on a device against the processor's and the slow twin's: equal in every sum.
#include <gtest/gtest.h>

#include <bit>

#include "sim/simt/reference/replay_reference.hpp"
#include "tests/kernels-simt/support.hpp"

namespace rayreplay {
namespace {

using simt::Policy;

struct Case {
  std::size_t shaders;  ///< 6: narrow codes; 60: those that occur, narrow; 700: wide; 3000: too many for shared memory
  std::uint32_t warp_size;
};

class Replay : public testing::TestWithParam<Case> {
 protected:
  static constexpr std::uint32_t kThreads = 500;

  void SetUp() override {
    const auto [shader_count, warp_size] = GetParam();
    shaders = test::shaders_of_all_stages(shader_count);
    std::mt19937_64 random(shader_count * 100 + warp_size);
    launch = test::RandomLaunch(shader_count, random()).make(kThreads, shader_count > 1000 ? 20 : 5);
    assignment = test::shuffled_assignment(kThreads, warp_size, random);
  }
  simt::ReplayResult on_device(const simt::ReplayOptions& options, const simt::OnDeviceLimits& limits = {}) {
    std::array<kernels::Device*, 1> devices{&test::shared_device()};
    return simt::replay_on(devices, launch, shaders, assignment, options, limits);
  }

  std::vector<trace::Shader> shaders;
  trace::Launch launch;
  scheduler::WarpAssignment assignment;
};

TEST_P(Replay, GivesTheProcessorsSums) {
  kernels::Accelerator nothing({}, false, {});
  kernels::LaunchOnDevice resident(nothing, launch);
  for (const Policy policy : test::kPolicies) {
    for (const bool everything : {false, true}) {
      simt::ReplayOptions options;
      options.policy = policy;
      options.per_warp = everything;
      options.per_thread = everything;
      options.shader_cost = everything ? test::some_costs(shaders.size()) : std::vector<std::uint32_t>();
      const simt::ReplayResult expected = simt::replay(launch, shaders, assignment, options);
      options.on_device = &resident;
      SCOPED_TRACE(to_string(policy));
      test::expect_equal(on_device(options), expected);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, Replay,
                         testing::Values(Case{6, 1}, Case{6, 3}, Case{6, 8}, Case{60, 17}, Case{6, 32}, Case{700, 32},
                                         Case{3000, 32}, Case{6, 64}),
                         [](const auto& instance) {
                           return std::to_string(instance.param.shaders) + "Shaders" +
                                  std::to_string(instance.param.warp_size) + "Lanes";
                         });

}  // namespace
}  // namespace rayreplay
