// The bound's calls, counted on a device.
#include <gtest/gtest.h>

#include <cstdint>

#include "kernels/packing/call_counts.hpp"
#include "kernels/twins.hpp"
#include "scheduler-models/bound.hpp"
#include "tests/scheduler-models/support.hpp"
#include "tests/support/accelerator.hpp"

namespace rayreplay::scheduler {
namespace {

class BoundOnDevice : public testing::Test {
 protected:
  void compare(const trace::Launch& launch, std::uint32_t warp_size) {
    trace::AcceleratedLaunch on_device(*accelerator_, launch);
    const Bound found = lower_bound(launch, warp_size, &on_device);
    const Bound expected = lower_bound(launch, warp_size);
    EXPECT_EQ(found.calls, expected.calls);
    EXPECT_EQ(found.warp_events, expected.warp_events);
    EXPECT_EQ(found.efficiency, expected.efficiency);
  }

  std::unique_ptr<Accelerator> accelerator_ = rayreplay::test::open_accelerator();
};

TEST_F(BoundOnDevice, OfRandomLaunches) {
  test::RandomLaunch random(3, {0, 7});
  for (const trace::LaunchSize size :
       {trace::LaunchSize{1, 1, 1}, trace::LaunchSize{37, 23, 1}, trace::LaunchSize{9, 8, 3}}) {
    const trace::Launch launch = random(size);
    for (const std::uint32_t warp_size : {1U, 32U, 64U}) {
      compare(launch, warp_size);
    }
  }
  compare(test::empty_launch({5, 5, 1}), 32);
  EXPECT_EQ(accelerator_->records().at(0).stage, "bound");
}

// One to nine events: the columns end inside the words that the kernel reads.
TEST_F(BoundOnDevice, OfColumnsWithRaggedEnds) {
  for (std::uint16_t events = 1; events < 10; ++events) {
    rayreplay::test::LaunchBuilder builder({1, 1, 1});
    builder.thread();
    for (std::uint16_t i = 0; i < events; ++i) {
      builder.miss(static_cast<std::uint16_t>(i % 3));
    }
    compare(builder.build(), 2);
  }
}

// More calls than the kernel counts in shared memory, and shader ids up to the last.
TEST_F(BoundOnDevice, OfManyShaders) {
  rayreplay::test::LaunchBuilder builder({40, 50, 1});
  for (std::uint32_t i = 0; i < 2000; ++i) {
    builder.thread().begin(0).miss(static_cast<std::uint16_t>(i * 32 % 65535)).closest_hit(65534);
  }
  const trace::Launch launch = builder.build();
  compare(launch, 32);
  trace::AcceleratedLaunch on_device(*accelerator_, launch);
  kernels::Device& device = *kernels::devices_of(*accelerator_).at(0);
  kernels::LaunchOnDevice& there = kernels::on_devices(on_device);
  const CallCounts calls = kernels::call_counts(there, device);
  EXPECT_EQ(calls.shaders, 65535U);
  EXPECT_EQ(calls.count[static_cast<std::size_t>(trace::EventKind::ClosestHit) * calls.shaders + 65534], 2000U);
  EXPECT_EQ(kernels::call_counts(there, device).count, calls.count) << "from what is kept on the device";
}

TEST_F(BoundOnDevice, WithoutADevice) {
  test::RandomLaunch random(3, {0});
  const trace::Launch launch = random({20, 20, 1});
  EXPECT_EQ(lower_bound(launch, 32, nullptr).warp_events, lower_bound(launch, 32).warp_events);
  EXPECT_THROW((void)lower_bound(launch, 0, nullptr), Error);
  trace::AcceleratedLaunch on_device(*accelerator_, launch);
  EXPECT_THROW((void)lower_bound(launch, 65, &on_device), Error);
}

}  // namespace
}  // namespace rayreplay::scheduler
