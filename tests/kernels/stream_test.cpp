#include <gtest/gtest.h>

#include "tests/kernels/affine_kernel.hpp"
#include "tests/support/vulkan_device.hpp"

namespace rayreplay::kernels {
namespace {

TEST(Stream, RunsAKernelOverDataOfAnySize) {
  const auto device = test::open_test_device();
  for (const std::uint32_t count : {1U, 63U, 64U, 65U, 100'000U, 5'000'001U}) {
    EXPECT_EQ(affine(*device, numbers(count)), affine_twin(numbers(count))) << count;
  }
}

TEST(Stream, SpecializationConstantsMakeAnotherProgram) {
  const auto device = test::open_test_device();
  EXPECT_EQ(affine(*device, numbers(1000), {5}), affine_twin(numbers(1000), 5));
  EXPECT_EQ(affine(*device, numbers(1000), {7}), affine_twin(numbers(1000), 7));
  EXPECT_EQ(affine(*device, numbers(1000)), affine_twin(numbers(1000)));
}

/// With no time at all a launch is cut at every workgroup, once it is known what one costs.
TEST(Stream, CutsLaunchesWithoutChangingTheResult) {
  DeviceOptions options;
  options.batch_seconds = 1e-9;
  const auto device = test::open_test_device(options);
  const auto x = numbers(64 * 700 + 5);
  EXPECT_EQ(affine(*device, x), affine_twin(x));
  EXPECT_EQ(affine(*device, x), affine_twin(x));
  EXPECT_GT(device->times().at("affine").launches, 700U);
  device->clear_times();
  EXPECT_TRUE(device->times().empty());
}

TEST(Stream, CommandsSeeWhatThoseBeforeThemWrote) {
  const auto device = test::open_test_device();
  constexpr std::uint32_t kCount = 10'000;
  constexpr int kRounds = 400;  // more than a frame's stamps
  const Program program = device->program(kAffineShader);
  Buffer x = device->allocate_array<std::uint32_t>(kCount, "x");
  Buffer y = device->allocate_array<std::uint32_t>(kCount, "y");
  Stream stream(*device);
  std::vector<std::uint32_t> expected = numbers(kCount);
  stream.upload_array(x, expected);
  for (int round = 0; round < kRounds; ++round) {
    stream.run(program, (kCount + kAffineGroup - 1) / kAffineGroup, AffinePush{0, kCount, x.address(), y.address()});
    std::swap(x, y);
    expected = affine_twin(expected);
  }
  std::vector<std::uint32_t> result(kCount);
  stream.download_array(x, result);
  stream.wait();
  EXPECT_EQ(result, expected);
}

TEST(Stream, FillsAndCopiesParts) {
  const auto device = test::open_test_device();
  const Buffer a = device->allocate_array<std::uint32_t>(8, "a");
  const Buffer b = device->allocate_array<std::uint32_t>(8, "b");
  Stream stream(*device);
  stream.fill(a, 7);
  stream.fill(b, 1);
  stream.fill(a, 9, 8, 4);
  stream.copy(a, 4, b, 12, 12);
  const std::vector<std::uint32_t> two{5, 6};
  stream.upload_array(b, two, 6);
  std::vector<std::uint32_t> result(8);
  stream.download_array(b, result);
  stream.wait();
  EXPECT_EQ(result, (std::vector<std::uint32_t>{1, 1, 1, 7, 9, 7, 5, 6}));
}

TEST(Stream, TakesTheBytesOfAnUploadAtOnce) {
  const auto device = test::open_test_device();
  const Buffer buffer = device->allocate(64, "bytes");
  Stream stream(*device);
  std::vector<std::uint32_t> data(16, 1);
  stream.upload_array(buffer, data);
  data.assign(16, 2);
  std::vector<std::uint32_t> result(16);
  stream.download_array(buffer, result);
  stream.wait();
  EXPECT_EQ(result, std::vector<std::uint32_t>(16, 1));
}

TEST(Stream, MemoryThatWasGivenBackIsUsedAgainInOrder) {
  const auto device = test::open_test_device();
  const Program program = device->program(kAffineShader);
  constexpr std::uint32_t kCount = 4096;
  constexpr std::uint32_t kRounds = 50;
  const Buffer kept = device->allocate_array<std::uint32_t>(std::uint64_t{kCount} * kRounds, "kept");
  std::vector<std::uint32_t> expected;
  Stream stream(*device);
  for (std::uint32_t round = 0; round < kRounds; ++round) {
    const Buffer x = device->allocate_array<std::uint32_t>(kCount, "x");
    const Buffer y = device->allocate_array<std::uint32_t>(kCount, "y");
    const std::vector<std::uint32_t> data(kCount, round);
    stream.upload_array(x, data);
    stream.run(program, kCount / kAffineGroup, AffinePush{0, kCount, x.address(), y.address()});
    stream.copy(y, 0, kept, std::uint64_t{round} * kCount * 4, kCount * 4);
    const auto twin = affine_twin(data);
    expected.insert(expected.end(), twin.begin(), twin.end());
  }
  EXPECT_LT(device->peak_bytes(), kept.bytes() + 8 * 4 * kCount);
  std::vector<std::uint32_t> result(expected.size());
  stream.download_array(kept, result);
  stream.wait();
  EXPECT_EQ(result, expected);
}

TEST(Stream, TwoStreamsOfOneDevice) {
  const auto device = test::open_test_device();
  const Buffer a = device->allocate(1024, "a");
  Stream first(*device);
  first.fill(a, 1);
  {
    Stream second(*device);
    const Buffer temporary = device->allocate(1024, "temporary");
    second.fill(temporary, 2);
    const auto x = numbers(1000);
    EXPECT_EQ(affine(*device, x), affine_twin(x));
  }
  std::vector<std::uint32_t> result(256);
  first.download_array(a, result);
  first.wait();
  EXPECT_EQ(result, std::vector<std::uint32_t>(256, 1));
}

TEST(Stream, RefusesToLeaveABuffer) {
  const auto device = test::open_test_device();
  const Buffer buffer = device->allocate(64, "bytes");
  Stream stream(*device);
  std::vector<std::uint32_t> data(17);
  EXPECT_THROW(stream.upload_array(buffer, data), Error);
  EXPECT_THROW(stream.download_array(buffer, data), Error);
  EXPECT_THROW(stream.fill(buffer, 0, 60, 8), Error);
  EXPECT_THROW(stream.copy(buffer, 0, buffer, 32, 64), Error);
}

}  // namespace
}  // namespace rayreplay::kernels
