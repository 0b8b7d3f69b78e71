// Are the maps of a launch's pixels the same, value for value, whether a device sums them or not?
#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "capture/trace/accelerated_launch.hpp"
#include "sim/simt/pixel_map.hpp"
#include "tests/support/accelerator.hpp"
#include "tests/support/random_trace.hpp"

namespace rayreplay::test {
namespace {

using experiment::PixelMap;

void expect_equal(const PixelMap& found, const PixelMap& expected) {
  EXPECT_EQ(found.width, expected.width);
  EXPECT_EQ(found.height, expected.height);
  EXPECT_THAT(found.values, testing::Pointwise(testing::NanSensitiveFloatEq(), expected.values));
}

TEST(PixelMapsOnDevice, CountsOfEvents) {
  const auto used = open_accelerator();
  for (const trace::LaunchSize size : {trace::LaunchSize{7, 5, 1}, trace::LaunchSize{33, 9, 4}}) {
    const trace::Trace trace = random_trace({.seed = 3, .size = size});
    trace::AcceleratedLaunch there(*used, trace.launches[0]);
    const experiment::PixelCounts expected = experiment::count_pixels(trace.launches[0]);
    const experiment::PixelCounts found = experiment::count_pixels(trace.launches[0], &there);
    expect_equal(found.rays, expected.rays);
    expect_equal(found.intersections, expected.intersections);
    expect_equal(found.any_hits, expected.any_hits);
    EXPECT_GT(*std::max_element(expected.rays.values.begin(), expected.rays.values.end()), 1.0F);
  }
  ASSERT_EQ(used->records().size(), 1U);
  EXPECT_EQ(used->records()[0].stage, "events per pixel");
  EXPECT_EQ(used->records()[0].reason, "");
}

TEST(PixelMapsOnDevice, Efficiency) {
  constexpr std::uint32_t kWarp = 32;
  Random random(5);
  for (const trace::LaunchSize size : {trace::LaunchSize{7, 5, 1}, trace::LaunchSize{40, 11, 3}}) {
    std::vector<simt::Tally> by_thread(std::size_t{size.width} * size.height * size.depth);
    for (simt::Tally& tally : by_thread) {
      tally.warp_events = random.one_in(2) ? random.below(1000) : 0;
      tally.active_lanes = tally.warp_events * random.below(kWarp);
    }
    const PixelMap expected = experiment::efficiency_map(size, by_thread, kWarp);
    for (const bool lost : {false, true}) {
      kernels::DeviceOptions options;
      options.lose_at_submission = lost ? 1 : 0;
      const auto used = open_accelerator(1, !lost, options);
      expect_equal(experiment::efficiency_map(size, by_thread, kWarp, used.get()), expected);
      ASSERT_EQ(used->records().size(), size.depth == 1 ? 0U : 1U);
      if (size.depth > 1) {
        EXPECT_EQ(used->records()[0].device == "CPU", lost);
      }
    }
  }
}

}  // namespace
}  // namespace rayreplay::test
