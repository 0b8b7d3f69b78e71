// Are doubles on the device the processor's, to the last bit?
#include <cmath>

#include <gtest/gtest.h>

#include "kernels/arithmetic/arithmetic_check.hpp"
#include "tests/support/vulkan_device.hpp"

namespace {

using namespace rayreplay;

TEST(Arithmetic, IsTheProcessorsBitForBit) {
  const auto device = test::open_test_device();
  if (!device->info().has.float64) {
    EXPECT_FALSE(kernels::doubles_are_exact(*device));
    EXPECT_THROW(kernels::require_exact_doubles(*device), DeviceError);
    return;
  }
  EXPECT_EQ(kernels::differing_arithmetic(*device), "");
  EXPECT_TRUE(kernels::doubles_are_exact(*device));
  EXPECT_NO_THROW(kernels::require_exact_doubles(*device));
}

}  // namespace
