// Do sums by key on the device equal sums in a loop, whatever the keys look like?
#include <algorithm>
#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/reduction/sum_by_key.hpp"
#include "tests/support/vulkan_device.hpp"

namespace {

using namespace rayreplay;
using kernels::ValueWidth;

struct Items {
  std::vector<std::uint32_t> keys;
  std::vector<std::uint64_t> values;
};

Items random_items(std::size_t count, const std::function<std::uint32_t(std::size_t)>& key, std::mt19937_64& random) {
  Items items;
  for (std::size_t i = 0; i < count; ++i) {
    items.keys.push_back(key(i));
    items.values.push_back(random() >> (random() % 64));  // also sums that carry out of 32 bits
  }
  return items;
}

std::vector<std::uint64_t> slow_sums(const Items& items, ValueWidth width, std::uint32_t key_count) {
  std::vector<std::uint64_t> sums(key_count, 3);
  for (std::size_t i = 0; i < items.keys.size(); ++i) {
    if (items.keys[i] < key_count) {
      sums[items.keys[i]] += width == ValueWidth::One    ? 1
                             : width == ValueWidth::Word ? static_cast<std::uint32_t>(items.values[i])
                                                         : items.values[i];
    }
  }
  return sums;
}

std::vector<std::uint64_t> device_sums(kernels::Device& device, const Items& items, ValueWidth width,
                                       std::uint32_t key_count, kernels::SumAtomics atomics) {
  kernels::Stream stream(device);
  const std::vector<std::uint32_t> words(items.values.begin(), items.values.end());
  const kernels::Buffer keys = device.allocate_array<std::uint32_t>(items.keys.size(), "keys");
  const kernels::Buffer values = device.allocate_array<std::uint64_t>(items.keys.size(), "values");
  const kernels::Buffer sums = device.allocate_array<std::uint64_t>(key_count, "sums");
  std::vector<std::uint64_t> result(key_count, 3);
  stream.upload_array(keys, items.keys);
  if (width == ValueWidth::Word) {
    stream.upload_array(values, words);
  } else {
    stream.upload_array(values, items.values);
  }
  stream.upload_array(sums, result);
  kernels::sum_by_key(device, stream, {items.keys.size(), &keys, width == ValueWidth::One ? nullptr : &values, width},
                      key_count, sums, atomics);
  stream.download_array(sums, result);
  stream.wait();
  return result;
}

void expect_equal(kernels::Device& device, const Items& items, std::uint32_t key_count, const std::string& what) {
  for (const ValueWidth width : {ValueWidth::One, ValueWidth::Word, ValueWidth::Long}) {
    const auto expected = slow_sums(items, width, key_count);
    for (const kernels::SumAtomics atomics : {kernels::SumAtomics::Best, kernels::SumAtomics::Pairs}) {
      EXPECT_EQ(device_sums(device, items, width, key_count, atomics), expected)
          << what << ", " << items.keys.size() << " items, width " << static_cast<int>(width);
    }
  }
}

TEST(SumByKey, EqualsALoop) {
  const auto device = test::open_test_device();
  std::mt19937_64 random(5);
  for (const std::size_t count : {0UL, 1UL, 3UL, 1023UL, 8193UL, 70001UL}) {
    for (const std::uint32_t key_count : {1U, 7U, 2048U, 2049U, 50000U}) {
      const std::string keys = std::to_string(key_count) + " keys";
      expect_equal(*device,
                   random_items(
                       count, [&](std::size_t) { return static_cast<std::uint32_t>(random()) % key_count; }, random),
                   key_count, keys + " at random");
      expect_equal(*device,
                   random_items(
                       count, [&](std::size_t i) { return static_cast<std::uint32_t>(i / 5) % key_count; }, random),
                   key_count, keys + " in runs");
    }
  }
}

TEST(SumByKey, HotKeysAndKeysLeftOut) {
  const auto device = test::open_test_device();
  std::mt19937_64 random(6);
  constexpr std::uint32_t kKeys = 100000;
  expect_equal(*device,
               random_items(
                   60000, [](std::size_t) { return 77777U; }, random),
               kKeys, "one key");
  expect_equal(*device,
               random_items(
                   60000,
                   [&](std::size_t) {
                     const auto draw = static_cast<std::uint32_t>(random());
                     return draw % 4 == 0 ? draw >> 8U : draw % 4 * 30000;
                   },
                   random),
               kKeys, "three hot keys, many left out");
  expect_equal(*device,
               random_items(
                   5000, [](std::size_t) { return 0xFFFFFFFFU; }, random),
               kKeys, "all left out");
}

TEST(SumByKey, RangesOfWorkgroupsThatAreLonger) {
  const auto device = test::open_test_device();
  Items items;
  constexpr std::size_t kCount = 4096 * 8192 + 4099;  // one more round each
  items.keys.resize(kCount);
  for (std::size_t i = 0; i < kCount; ++i) {
    items.keys[i] = static_cast<std::uint32_t>(i % 3001);
  }
  items.values.resize(1);
  kernels::Stream stream(*device);
  const kernels::Buffer keys = device->allocate_array<std::uint32_t>(kCount, "keys");
  const kernels::Buffer sums = device->allocate_array<std::uint64_t>(3001, "sums");
  stream.upload_array(keys, items.keys);
  stream.fill(sums, 0);
  kernels::sum_by_key(*device, stream, {kCount, &keys}, 3001, sums);
  std::vector<std::uint64_t> found(3001);
  stream.download_array(sums, found);
  stream.wait();
  for (std::size_t key = 0; key < found.size(); ++key) {
    ASSERT_EQ(found[key], kCount / 3001 + (key < kCount % 3001 ? 1 : 0)) << key;
  }
}

TEST(SumByKey, RefusesBuffersThatAreTooSmall) {
  const auto device = test::open_test_device();
  kernels::Stream stream(*device);
  const kernels::Buffer small = device->allocate(16, "small");
  EXPECT_THROW(kernels::sum_by_key(*device, stream, {5, &small}, 1, small), Error);
  EXPECT_THROW(kernels::sum_by_key(*device, stream, {4, &small, &small, ValueWidth::Long}, 1, small), Error);
  EXPECT_THROW(kernels::sum_by_key(*device, stream, {4, &small}, 3, small), Error);
}

}  // namespace
