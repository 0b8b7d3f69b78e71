// What the tests of the replay's kernels share: a device, and results compared sum by sum.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <utility>
#include <vector>

#include "capture/trace/accelerated_launch.hpp"
#include "kernels/simt/twins.hpp"
#include "kernels/twins.hpp"
#include "tests/simt/support.hpp"
#include "tests/support/accelerator.hpp"

namespace rayreplay::test {

/// One for all tests of the program: compiling the kernels is most of their time.
inline kernels::Device& shared_device() {
  static const std::unique_ptr<kernels::Device> device = open_test_device();
  return *device;
}

/// The same, as what a stage is given.
inline simt::Devices one_device() {
  static kernels::Device* const device = &shared_device();
  return {&device, 1};
}

inline void expect_equal(const simt::ReplayResult& found, const simt::ReplayResult& expected) {
  EXPECT_EQ(found.warp_size, expected.warp_size);
  EXPECT_EQ(found.policy, expected.policy);
  EXPECT_EQ(found.total, expected.total);
  EXPECT_EQ(found.by_kind, expected.by_kind);
  EXPECT_EQ(found.by_shader, expected.by_shader);
  EXPECT_EQ(found.by_warp, expected.by_warp);
  EXPECT_EQ(found.by_thread, expected.by_thread);
  ASSERT_EQ(found.by_call.size(), expected.by_call.size());
  for (std::size_t i = 0; i < found.by_call.size(); ++i) {
    EXPECT_EQ(found.by_call[i].kind, expected.by_call[i].kind);
    EXPECT_EQ(found.by_call[i].shader, expected.by_call[i].shader);
    EXPECT_EQ(found.by_call[i].tally, expected.by_call[i].tally);
  }
}

inline void expect_equal(const simt::SegmentReplayResult& found, const simt::SegmentReplayResult& expected) {
  expect_equal(found.replay, expected.replay);
  EXPECT_EQ(found.active_lanes, expected.active_lanes);
  EXPECT_EQ(found.by_bounce, expected.by_bounce);
  EXPECT_EQ(found.weights, expected.weights);
}

/// Different for every shader, some of them beyond what 32-bit sums could hold.
inline std::vector<std::uint32_t> some_costs(std::size_t shaders) {
  std::vector<std::uint32_t> costs;
  for (std::size_t shader = 0; shader < shaders; ++shader) {
    costs.push_back(shader % 3 == 2 ? 0xFFFF'FF00U + static_cast<std::uint32_t>(shader % 16)
                                    : static_cast<std::uint32_t>(7 * shader + 1));
  }
  return costs;
}

}  // namespace rayreplay::test
