// What the tests of the regrouping kernels share: an accelerator with the test device, and columns compared.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "capture/trace/accelerated_launch.hpp"
#include "scheduler-models/regrouping/segment_schedule.hpp"
#include "tests/regrouping/random_schedules.hpp"
#include "tests/support/accelerator.hpp"

namespace rayreplay::test {

inline void expect_same(const scheduler::Segments& found, const scheduler::Segments& expected,
                        const std::string& what) {
  EXPECT_EQ(found.first, expected.first) << what;
  EXPECT_EQ(found.event_offset, expected.event_offset) << what;
  EXPECT_EQ(found.bounce, expected.bounce) << what;
  EXPECT_EQ(found.most_of_a_thread, expected.most_of_a_thread) << what;
}

inline void expect_same(const scheduler::SegmentSchedule& found, const scheduler::SegmentSchedule& expected,
                        const std::string& what) {
  EXPECT_EQ(found.warp_size, expected.warp_size) << what;
  expect_same_rounds(found, expected, what);
  EXPECT_EQ(found.sm_source, expected.sm_source) << what;
}

}  // namespace rayreplay::test
