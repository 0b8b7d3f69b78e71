#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "NeedsDoubles.spv.hpp"
#include "tests/kernels/affine_kernel.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/vulkan_device.hpp"

namespace rayreplay::kernels {
namespace {

using ::testing::HasSubstr;

Fault fault_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const DeviceError& error) {
    return error.fault();
  }
  throw std::runtime_error("no DeviceError was thrown");
}

TEST(Device, TellsWhatItIs) {
  const DeviceInfo info = test::open_test_device()->info();
  EXPECT_FALSE(info.name.empty());
  EXPECT_EQ(info.uuid.size(), 32U);
  EXPECT_GT(info.memory_bytes, 1U << 20U);
  EXPECT_GE(info.subgroup_size, info.least_subgroup);
  EXPECT_LE(info.subgroup_size, info.greatest_subgroup);
}

TEST(Device, NamesWhatIsLacking) {
  DeviceInfo info;
  EXPECT_EQ(info.lacks({}), "");
  EXPECT_THAT(info.lacks({.float64 = true}), HasSubstr("shaderFloat64"));
  info.has.float64 = true;
  EXPECT_EQ(info.lacks({.float64 = true}), "");
  EXPECT_THAT(info.lacks({.float64 = true, .int64_atomics = true}), HasSubstr("shaderBufferInt64Atomics"));
}

TEST(Device, DoublePrecision) {
  const auto device = test::open_test_device();
  ASSERT_TRUE(device->info().has.float64);
  const Program program = device->program({"doubles", kNeedsDoubles, {.float64 = true}});
  struct Push {
    std::uint32_t first_group = 0, count = 0;
    std::uint64_t y = 0;
  };
  constexpr std::uint32_t kCount = 100;
  const Buffer y = device->allocate_array<double>(kCount, "y");
  Stream stream(*device);
  stream.run(program, 2, Push{0, kCount, y.address()});
  std::vector<double> result(kCount);
  stream.download_array(y, result);
  stream.wait();
  for (std::uint32_t i = 0; i < kCount; ++i) {
    EXPECT_EQ(result[i], i * 0x1.5555555555555p-2);
  }
}

/// One allocation may hold no more than 1 MiB here: larger buffers are made of several.
TEST(Device, BuffersLargerThanOneAllocation) {
  DeviceInfo info = test::open_test_device()->info();
  ASSERT_TRUE(info.sparse);
  info.most_allocation = 1U << 20U;
  Device device(info);
  const auto x = numbers(1'000'003);
  EXPECT_EQ(affine(device, x), affine_twin(x));
}

TEST(Device, LimitOfMemory) {
  DeviceOptions options;
  options.memory_limit = 1U << 20U;
  const auto device = test::open_test_device(options);
  const Buffer half = device->allocate(1U << 19U, "half");
  EXPECT_EQ(fault_of([&] { (void)device->allocate(3U << 18U, "too much"); }), Fault::Memory);
  EXPECT_LE(device->free_bytes(), 1U << 19U);
  {
    const Buffer rest = device->allocate(1U << 18U, "rest");
    EXPECT_EQ(device->allocated_bytes(), 3U << 18U);
  }
  EXPECT_EQ(device->allocated_bytes(), 1U << 19U);
  const Buffer again = device->allocate(1U << 19U, "again");  // which takes what the pool holds
  EXPECT_EQ(device->peak_bytes(), 1U << 20U);
}

TEST(Device, MoreMemoryThanThereIs) {
  const auto device = test::open_test_device();
  EXPECT_EQ(fault_of([&] { (void)device->allocate(std::uint64_t{1} << 50U, "a petabyte"); }), Fault::Memory);
  const auto x = numbers(1000);
  EXPECT_EQ(affine(*device, x), affine_twin(x));
}

TEST(Device, LostInTheMiddle) {
  DeviceOptions options;
  options.lose_at_submission = 2;
  const auto device = test::open_test_device(options);
  EXPECT_EQ(affine(*device, numbers(10)), affine_twin(numbers(10)));
  EXPECT_FALSE(device->is_lost());
  EXPECT_EQ(fault_of([&] { (void)affine(*device, numbers(10)); }), Fault::Lost);
  EXPECT_TRUE(device->is_lost());
  EXPECT_EQ(fault_of([&] { (void)affine(*device, numbers(10)); }), Fault::Lost);
}

TEST(Device, NoSuchDevice) {
  DeviceInfo info = test::open_test_device()->info();
  info.index = 1000;
  EXPECT_EQ(fault_of([&] { const Device device(info); }), Fault::Unsupported);
}

TEST(Device, RefusesASubgroupSizeThatItLacks) {
  const auto device = test::open_test_device();
  EXPECT_EQ(fault_of([&] { (void)device->program(kAffineShader, {}, 4096); }), Fault::Unsupported);
  (void)device->program(kAffineShader, {}, device->info().subgroup_size);
}

TEST(PipelineCache, IsWrittenReadAndMendedWhenDamaged) {
  const test::TemporaryFolder folder;
  DeviceOptions options;
  options.cache_folder = folder.path() / "cache";
  const auto run = [&] { EXPECT_EQ(affine(*test::open_test_device(options), numbers(10)), affine_twin(numbers(10))); };
  run();
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(options.cache_folder)) {
    files.push_back(entry.path());
  }
  ASSERT_EQ(files.size(), 1U);
  const auto size = std::filesystem::file_size(files[0]);
  EXPECT_GT(size, 24U);
  run();
  std::filesystem::resize_file(files[0], size / 2);
  run();
  EXPECT_EQ(std::filesystem::file_size(files[0]), size);
  std::ofstream(files[0]) << "not a cache";
  run();
  EXPECT_EQ(std::filesystem::file_size(files[0]), size);
}

}  // namespace
}  // namespace rayreplay::kernels
