// The radix sort against std::stable_sort.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "kernels/sort/radix_sort.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/vulkan_device.hpp"

namespace rayreplay::kernels {
namespace {

template <class Key>
struct Sorted {
  std::vector<Key> keys;
  std::vector<std::uint32_t> values;
  bool operator==(const Sorted&) const = default;
};

template <class Key>
Sorted<Key> twin(const std::vector<Key>& keys, std::uint64_t mask, bool with_values) {
  std::vector<std::uint32_t> order(keys.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return (keys[a] & mask) < (keys[b] & mask); });
  Sorted<Key> result;
  for (const std::uint32_t i : order) {
    result.keys.push_back(keys[i]);
    if (with_values) {
      result.values.push_back(i * 7 + 3);
    }
  }
  return result;
}

class RadixSort : public testing::Test {
 protected:
  using Action = std::function<void(Sorter&, Stream&, SortArrays&)>;

  template <class Key>
  Sorted<Key> on_device(const std::vector<Key>& keys, bool with_values, const SortShape& shape, const Action& sort) {
    Stream stream(*device_);
    Sorter sorter(*device_, shape);
    Buffer a = device_->allocate_array<Key>(keys.size(), "keys");
    Buffer b = device_->allocate_array<Key>(keys.size(), "keys");
    Buffer c = device_->allocate_array<std::uint32_t>(keys.size(), "values");
    Buffer d = device_->allocate_array<std::uint32_t>(keys.size(), "values");
    stream.upload_array(a, keys);
    SortArrays arrays{&a, nullptr, &b, nullptr};
    if (with_values) {
      std::vector<std::uint32_t> values(keys.size());
      for (std::uint32_t i = 0; i < values.size(); ++i) {
        values[i] = i * 7 + 3;
      }
      stream.upload_array(c, values);
      arrays.values = &c;
      arrays.other_values = &d;
    }
    sort(sorter, stream, arrays);
    Sorted<Key> result;
    result.keys.resize(keys.size());
    stream.download_array(*arrays.keys, result.keys);
    if (with_values) {
      result.values.resize(keys.size());
      stream.download_array(*arrays.values, result.values);
    }
    stream.wait();
    return result;
  }

  template <class Key>
  void compare(const std::vector<Key>& keys, std::uint32_t first_bit, std::uint32_t end_bit, const SortShape& shape,
               const std::string& what) {
    const std::uint64_t mask =
        (end_bit >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << end_bit) - 1) & (~std::uint64_t{0} << first_bit);
    for (const bool with_values : {true, false}) {
      const Sorted<Key> found =
          on_device(keys, with_values, shape, [&](Sorter& sorter, Stream& stream, SortArrays& arrays) {
            sorter.sort(stream, keys.size(), sizeof(Key), first_bit, end_bit, arrays);
          });
      EXPECT_TRUE(found == twin(keys, first_bit < end_bit ? mask : 0, with_values))
          << what << ", " << keys.size() << " keys of " << sizeof(Key) << " bytes, bits " << first_bit << " to "
          << end_bit << (with_values ? ", with values" : "");
    }
  }

  template <class Key>
  std::vector<Key> random_keys(std::size_t count, Key mask = static_cast<Key>(~Key{0})) {
    std::vector<Key> keys(count);
    for (Key& key : keys) {
      key = static_cast<Key>(random_()) & mask;
    }
    return keys;
  }

  std::unique_ptr<Device> device_ = test::open_test_device();
  std::mt19937_64 random_{5};
};

// Small tiles (64 threads, 1 or 3 keys each) and few blocks, so that small arrays have many tiles, and blocks several.
constexpr SortShape kSmall{.items = 1, .threads = 64, .most_blocks = 3};
constexpr SortShape kUneven{.items = 3, .threads = 128, .most_blocks = 1};

TEST_F(RadixSort, SizesAroundTheBordersOfTiles) {
  for (const int size : {0, 1, 2, 7, 8, 9, 63, 64, 65, 127, 128, 129, 191, 192, 193, 256, 383, 384, 385, 1000}) {
    const auto count = static_cast<std::size_t>(size);
    compare(random_keys<std::uint32_t>(count), 0, 32, kSmall, "small tiles");
    compare(random_keys<std::uint64_t>(count), 0, 64, kUneven, "uneven tiles");
  }
  for (const int size : {1023, 1024, 1025, 4095, 4096, 4097, 8193}) {
    const auto count = static_cast<std::size_t>(size);
    compare(random_keys<std::uint32_t>(count), 0, 32, {}, "usual tiles");
    compare(random_keys<std::uint64_t>(count), 0, 64, {}, "usual tiles");
  }
}

TEST_F(RadixSort, EveryRangeOfBits) {
  const auto narrow = random_keys<std::uint32_t>(700);
  const auto wide = random_keys<std::uint64_t>(700);
  for (const std::uint32_t first : {0U, 1U, 5U, 8U, 13U, 31U, 32U}) {
    for (const std::uint32_t end : {0U, 1U, 3U, 8U, 9U, 17U, 24U, 31U, 32U}) {
      if (first <= end) {
        compare(narrow, first, end, kSmall, "ranges");
        compare(wide, first, end, kSmall, "ranges");
        compare(wide, first, 2 * end, kUneven, "ranges");
        compare(wide, first + end, 64, kUneven, "ranges");
      }
    }
  }
}

TEST_F(RadixSort, KeysOfManyShapes) {
  constexpr std::size_t kCount = 5000;
  std::vector<std::uint64_t> ascending(kCount);
  std::iota(ascending.begin(), ascending.end(), 0x1234'FFFF'FF00U);
  compare(ascending, 0, 64, {}, "ascending");
  compare(std::vector<std::uint64_t>(ascending.rbegin(), ascending.rend()), 0, 64, {}, "descending");
  compare(std::vector<std::uint64_t>(kCount, 42), 0, 64, {}, "all equal");
  compare(std::vector<std::uint64_t>(kCount, ~std::uint64_t{0}), 0, 64, {}, "all ones");
  compare(std::vector<std::uint32_t>(kCount, 0xFFFF'FFFFU), 0, 32, kSmall, "all ones");
  compare(random_keys<std::uint64_t>(kCount, 1), 0, 64, {}, "two keys");
  compare(random_keys<std::uint64_t>(kCount, 0xFF00'0000'0000'00F0U), 0, 64, {}, "first and last digit");
  compare(random_keys<std::uint32_t>(kCount, 0x8000'0001U), 0, 32, kUneven, "first and last bit");
}

TEST_F(RadixSort, AMillionKeys) {
  compare(random_keys<std::uint64_t>(1'200'001), 4, 44, {}, "a million");
}

// As GPUs run it.
TEST_F(RadixSort, WithUnrolledLoops) {
  const SortShape shape{.items = 2, .threads = 64, .most_blocks = 4, .loops = SortLoops::Unrolled};
  compare(random_keys<std::uint64_t>(3001), 0, 64, shape, "unrolled");
  compare(random_keys<std::uint32_t>(3001), 0, 32, shape, "unrolled");
}

// Launches in slices of a few workgroups.
TEST_F(RadixSort, CutIntoSlices) {
  constexpr double kNearlyNothing = 1e-7;
  device_ = test::open_test_device({.batch_seconds = kNearlyNothing});
  compare(random_keys<std::uint64_t>(5000), 0, 32, {.items = 1, .threads = 64}, "slices");
}

TEST_F(RadixSort, ByTheBitsOfAMask) {
  const auto keys = random_keys<std::uint64_t>(3000);
  for (const std::uint64_t mask : {std::uint64_t{0}, std::uint64_t{1} << 63, std::uint64_t{0x8000'0000'0101'0003},
                                   std::uint64_t{0x00FF'0F00'F0A5'0000}, ~std::uint64_t{0}}) {
    const auto found = on_device(keys, true, {}, [&](Sorter& sorter, Stream& stream, SortArrays& arrays) {
      sorter.sort_by_mask(stream, keys.size(), 8, mask, arrays);
    });
    EXPECT_TRUE(found == twin(keys, mask, true)) << std::hex << mask;
  }
}

TEST_F(RadixSort, VaryingBits) {
  const auto varying = [this](const auto& keys) {
    using Key = typename std::decay_t<decltype(keys)>::value_type;
    Stream stream(*device_);
    Sorter sorter(*device_);
    const Buffer buffer = device_->allocate_array<Key>(keys.size(), "keys");
    stream.upload_array(buffer, keys);
    return sorter.varying_bits(stream, buffer, keys.size(), sizeof(Key));
  };
  EXPECT_EQ(varying(std::vector<std::uint64_t>{}), 0U);
  EXPECT_EQ(varying(std::vector<std::uint64_t>{77}), 0U);
  EXPECT_EQ(varying(std::vector<std::uint32_t>(1000, 0xABCD'EF01U)), 0U);
  std::vector<std::uint64_t> keys(300'000, 0x1234'5678'9ABC'DEF0U);
  keys[299'999] ^= 0x8000'0000'0000'0000U;
  keys[12] ^= 0x11U;
  EXPECT_EQ(varying(keys), 0x8000'0000'0000'0011U);
  EXPECT_EQ(varying(std::vector<std::uint32_t>{0, 0xFFFF'FFFFU}), 0xFFFF'FFFFU);
}

TEST_F(RadixSort, OneSorterForSeveralSorts) {
  Sorter sorter(*device_, kSmall);
  Stream stream(*device_);
  for (const int size : {100, 5000, 10, 20000}) {
    const auto count = static_cast<std::size_t>(size);
    auto keys = random_keys<std::uint32_t>(count);
    Buffer a = device_->allocate_array<std::uint32_t>(count, "keys");
    Buffer b = device_->allocate_array<std::uint32_t>(count, "keys");
    stream.upload_array(a, keys);
    SortArrays arrays{&a, nullptr, &b, nullptr};
    sorter.sort(stream, count, 4, 0, 32, arrays);
    std::vector<std::uint32_t> found(count);
    stream.download_array(*arrays.keys, found);
    stream.wait();
    std::sort(keys.begin(), keys.end());
    EXPECT_TRUE(found == keys) << count;
  }
}

TEST_F(RadixSort, RefusesWhatCannotBeSorted) {
  Stream stream(*device_);
  Sorter sorter(*device_);
  Buffer a = device_->allocate(64, "keys");
  Buffer b = device_->allocate(64, "keys");
  SortArrays arrays{&a, nullptr, &b, nullptr};
  const auto kind = [](const auto& action) { return test::said(action).kind; };
  EXPECT_EQ(kind([&] { sorter.sort(stream, 8, 2, 0, 16, arrays); }), ErrorKind::Usage);
  EXPECT_EQ(kind([&] { sorter.sort(stream, 8, 4, 0, 33, arrays); }), ErrorKind::Usage);
  EXPECT_EQ(kind([&] { sorter.sort(stream, 8, 8, 9, 8, arrays); }), ErrorKind::Usage);
  EXPECT_EQ(kind([&] { sorter.sort(stream, std::uint64_t{1} << 32, 4, 0, 32, arrays); }), ErrorKind::Usage);
}

}  // namespace
}  // namespace rayreplay::kernels
