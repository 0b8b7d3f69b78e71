// Prefix sums against std::exclusive_scan.
#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

#include "kernels/sort/exclusive_sum.hpp"
#include "tests/support/vulkan_device.hpp"

namespace rayreplay::kernels {
namespace {

class ExclusiveSum : public testing::Test {
 protected:
  template <class Sum>
  void compare(std::vector<std::uint32_t> items) {
    Stream stream(*device_);
    const Buffer from = device_->allocate_array<std::uint32_t>(items.size(), "items");
    const Buffer to = device_->allocate_array<Sum>(items.size() + 1, "sums");
    stream.upload_array(from, items);
    exclusive_sum(*device_, stream, from, to, items.size(), sizeof(Sum) == 8 ? SumBits::Of64 : SumBits::Of32);
    std::vector<Sum> found(items.size() + 1);
    stream.download_array(to, found);
    stream.wait();
    items.push_back(0);
    std::vector<Sum> expected(items.size());
    std::exclusive_scan(items.begin(), items.end(), expected.begin(), Sum{0});
    EXPECT_TRUE(found == expected) << items.size() - 1 << " items, sums of " << sizeof(Sum) << " bytes";
  }

  std::unique_ptr<Device> device_ = test::open_test_device();
  std::mt19937 random_{3};
};

TEST_F(ExclusiveSum, OfManySizes) {
  for (const int size : {0, 1, 3, 4, 5, 255, 256, 1023, 1024, 1025, 2047, 2048, 5000, 70'001}) {
    std::vector<std::uint32_t> items(static_cast<std::size_t>(size));
    for (std::uint32_t& item : items) {
      item = static_cast<std::uint32_t>(random_());
    }
    compare<std::uint32_t>(items);
    compare<std::uint64_t>(items);
  }
}

TEST_F(ExclusiveSum, OfMillions) {
  // More tiles than blocks: a block has several.
  std::vector<std::uint32_t> items(4'200'003);
  for (std::uint32_t& item : items) {
    item = static_cast<std::uint32_t>(random_()) % 3;
  }
  compare<std::uint32_t>(items);
}

TEST_F(ExclusiveSum, BeyondThirtyTwoBits) {
  compare<std::uint64_t>(std::vector<std::uint32_t>(10'000, 0xFFFF'FFFFU));
}

}  // namespace
}  // namespace rayreplay::kernels
