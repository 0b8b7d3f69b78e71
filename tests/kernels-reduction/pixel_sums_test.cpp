// Do sums per pixel on the device equal loops over the threads?
#include <array>
#include <cstdint>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/reduction/pixel_sums.hpp"
#include "tests/support/vulkan_device.hpp"

namespace {

using namespace rayreplay;

TEST(PixelSums, EventsPerPixel) {
  const auto device = test::open_test_device();
  std::mt19937_64 random(3);
  const std::array<std::uint32_t, 3> columns{0b11U, 1U << 4U, 1U << 31U};
  for (const std::uint64_t pixels : {1UL, 63UL, 1000UL}) {
    for (const std::uint32_t depth : {1U, 3U}) {
      std::vector<std::uint64_t> offsets{0};
      std::vector<std::uint8_t> kinds;
      for (std::uint64_t thread = 0; thread < pixels * depth; ++thread) {
        for (std::uint64_t left = random() % 4 == 0 ? random() % 23 : 0; left > 0; --left) {
          kinds.push_back(static_cast<std::uint8_t>(random() % 8 == 0 ? 31 : random() % 7));
        }
        offsets.push_back(kinds.size());
      }
      kernels::Stream stream(*device);
      const kernels::Buffer kinds_there = device->allocate(kinds.size(), "kinds");
      const kernels::Buffer offsets_there = device->allocate_array<std::uint64_t>(offsets.size(), "offsets");
      stream.upload_array(kinds_there, kinds);
      stream.upload_array(offsets_there, offsets);
      const kernels::Buffer counts = kernels::count_pixel_events(*device, stream, kinds_there, kinds.size(),
                                                                 offsets_there, {pixels, depth}, columns);
      std::vector<std::uint32_t> found(pixels * columns.size());
      stream.download_array(counts, found);
      stream.wait();
      std::vector<std::uint32_t> expected(found.size());
      for (std::uint64_t thread = 0; thread < pixels * depth; ++thread) {
        for (std::uint64_t event = offsets[thread]; event < offsets[thread + 1]; ++event) {
          for (std::size_t column = 0; column < columns.size(); ++column) {
            expected[column * pixels + thread % pixels] += (columns[column] >> kinds[event]) & 1U;
          }
        }
      }
      EXPECT_EQ(found, expected) << pixels << " pixels, " << depth << " slices";
    }
  }
}

TEST(PixelSums, Slices) {
  const auto device = test::open_test_device();
  std::mt19937_64 random(4);
  for (const std::uint64_t width : {1UL, 257UL, 3000UL}) {
    for (const std::uint32_t depth : {1U, 2U, 5U}) {
      std::vector<std::uint64_t> values(width * depth);
      std::vector<std::uint64_t> expected(width);
      for (std::size_t i = 0; i < values.size(); ++i) {
        values[i] = random();
        expected[i % width] += values[i];
      }
      kernels::Stream stream(*device);
      const kernels::Buffer there = device->allocate_array<std::uint64_t>(values.size(), "values");
      stream.upload_array(there, values);
      const kernels::Buffer sums = kernels::sum_slices(*device, stream, there, width, depth);
      std::vector<std::uint64_t> found(width);
      stream.download_array(sums, found);
      stream.wait();
      EXPECT_EQ(found, expected) << width << " wide, " << depth << " slices";
    }
  }
}

}  // namespace
