// Several devices, little memory, and what is refused: never a wrong number.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>

#include "base/error.hpp"
#include "kernels/simt/replay.hpp"
#include "tests/kernels-simt/support.hpp"
#include "tests/support/counting_progress.hpp"

namespace rayreplay {
namespace {

class OnDevices : public testing::Test {
 protected:
  static constexpr std::uint32_t kThreads = 2000;
  static constexpr std::size_t kShaders = 60;

  simt::ReplayOptions options() {
    simt::ReplayOptions options;
    options.per_warp = true;
    options.per_thread = true;
    return options;
  }

  std::vector<trace::Shader> shaders = test::shaders_of_all_stages(kShaders);
  trace::Launch launch = test::RandomLaunch(kShaders, 7).make(kThreads, 5);
  scheduler::WarpAssignment assignment = test::linear_assignment(kThreads, 32);
  simt::ReplayResult expected = simt::replay(launch, shaders, assignment, options());
};

TEST_F(OnDevices, TwoShareTheWarps) {
  const auto accelerator = test::open_accelerator(2);
  trace::AcceleratedLaunch resident(*accelerator, launch);
  simt::ReplayOptions with_devices = options();
  test::CountingProgress progress;
  with_devices.progress = &progress;
  with_devices.on_device = &resident;
  test::expect_equal(simt::replay(launch, shaders, assignment, with_devices), expected);
  EXPECT_EQ(progress.total, assignment.warps());
  EXPECT_EQ(progress.done, assignment.warps());
  EXPECT_TRUE(progress.finished);
  ASSERT_EQ(accelerator->records().size(), 1U);
  EXPECT_EQ(accelerator->records()[0].stage, "replay");
  EXPECT_NE(accelerator->records()[0].device, "CPU");
  for (kernels::Device* device : kernels::devices_of(*accelerator)) {
    EXPECT_EQ(device->times().count("simt replay"), 1U);
  }
}

TEST_F(OnDevices, TheLaunchIsUploadedAndEncodedOnce) {
  const auto accelerator = test::open_accelerator();
  trace::AcceleratedLaunch resident(*accelerator, launch);
  simt::ReplayOptions with_devices = options();
  with_devices.on_device = &resident;
  const auto launches = [&](const char* program) {
    return kernels::devices_of(*accelerator).front()->times().at(program).launches;
  };
  test::expect_equal(simt::replay(launch, shaders, assignment, with_devices), expected);
  const std::uint64_t encoded = launches("simt encode");
  const std::uint64_t replayed = launches("simt replay");
  const std::uint64_t kept = kernels::devices_of(*accelerator).front()->allocated_bytes();
  EXPECT_GE(kept, 4 * launch.data.events.size());  // kinds, shaders, codes
  test::expect_equal(simt::replay(launch, shaders, assignment, with_devices), expected);
  EXPECT_EQ(launches("simt encode"), encoded);
  EXPECT_GT(launches("simt replay"), replayed);
  EXPECT_EQ(kernels::devices_of(*accelerator).front()->allocated_bytes(), kept);
}

TEST_F(OnDevices, ColumnsPassThroughWhereTheyDoNotFit) {
  // Room for the codes and what a replay needs, but not for kinds and shaders as well.
  launch = test::RandomLaunch(6, 7).make(60'000, 12);
  shaders = test::shaders_of_all_stages(6);
  assignment = test::linear_assignment(60'000, 32);
  simt::ReplayOptions sums;
  expected = simt::replay(launch, shaders, assignment, sums);
  const std::uint64_t rows = launch.data.events.size();
  const auto accelerator = test::open_accelerator(1, true, {.memory_limit = rows * 5 / 2});
  trace::AcceleratedLaunch resident(*accelerator, launch);
  sums.on_device = &resident;
  test::expect_equal(simt::replay(launch, shaders, assignment, sums), expected);
  // The codes and the threads' offsets are all that is kept.
  EXPECT_LT(kernels::devices_of(*accelerator).front()->allocated_bytes(), 2 * rows);
}

TEST_F(OnDevices, TheProcessorGoesOnWhereMemoryIsShort) {
  std::vector<std::string> told;
  const auto accelerator =
      test::open_accelerator(1, false, {.memory_limit = 4096}, [&](const std::string& line) { told.push_back(line); });
  trace::AcceleratedLaunch resident(*accelerator, launch);
  simt::ReplayOptions with_devices = options();
  with_devices.on_device = &resident;
  test::expect_equal(simt::replay(launch, shaders, assignment, with_devices), expected);
  EXPECT_EQ(told.size(), 1U);
}

TEST_F(OnDevices, TheProcessorGoesOnWhereTheDeviceIsLost) {
  std::vector<std::string> told;
  const auto accelerator = test::open_accelerator(1, false, {.lose_at_submission = 2},
                                                  [&](const std::string& line) { told.push_back(line); });
  trace::AcceleratedLaunch resident(*accelerator, launch);
  simt::ReplayOptions with_devices = options();
  with_devices.on_device = &resident;
  test::expect_equal(simt::replay(launch, shaders, assignment, with_devices), expected);
  EXPECT_EQ(told.size(), 1U);
  EXPECT_FALSE(accelerator->has_device());
}

TEST_F(OnDevices, RefusesWhatTheProcessorRefuses) {
  const auto accelerator = test::open_accelerator(2);
  trace::AcceleratedLaunch resident(*accelerator, launch);
  simt::ReplayOptions with_devices;
  with_devices.on_device = &resident;
  const auto message = [&] {
    try {
      (void)simt::replay(launch, shaders, assignment, with_devices);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("nothing");
  };
  assignment.thread_at[1999] = kThreads;
  EXPECT_THAT(message(), testing::AllOf(testing::HasSubstr("a thread that the launch does not have"),
                                        testing::HasSubstr("place 1999")));
  assignment.thread_at.pop_back();
  EXPECT_THAT(message(), testing::HasSubstr("do not fill its warps"));
  with_devices.shader_cost = {1};
  EXPECT_THAT(message(), testing::HasSubstr("the cost table does not fit"));
  with_devices.shader_cost = {};
  assignment = test::linear_assignment(kThreads, 65);
  EXPECT_THAT(message(), testing::HasSubstr("the warp size is out of range"));
  assignment = test::linear_assignment(kThreads, 32);
  const trace::Launch other = launch;
  trace::AcceleratedLaunch of_other(*accelerator, other);
  with_devices.on_device = &of_other;
  EXPECT_THAT(message(), testing::HasSubstr("belong to another launch"));
}

/// One warp of one lane, whose queue is `calls` calls of code 0, for the kernels themselves.
struct OneLane {
  explicit OneLane(std::uint64_t calls) {
    // Rows beyond `calls` are not read: the queue is refused before.
    const std::vector<std::uint8_t> column(std::min<std::uint64_t>(calls, 1024), 0);
    stream.upload_array(codes, column);
    stream.upload_array(offsets, std::vector<std::uint64_t>{0, calls});
    stream.upload_array(places, std::vector<std::uint32_t>{0});
    warps.codes = {codes.address(), 1};
    warps.offsets = offsets.address();
    warps.pieces = 1;
    warps.warp_size = 1;
    warps.calls = 1;
  }
  kernels::Device& device = test::shared_device();
  kernels::Stream stream{device};
  kernels::Buffer codes = device.allocate(1024, "codes");
  kernels::Buffer offsets = device.allocate(16, "offsets");
  kernels::Buffer places = device.allocate(16, "places");
  kernels::simt::Warps warps;
};

TEST(ReplayKernel, SumsCarryIntoTheirHighWord) {
  OneLane lane(100);
  const std::uint64_t words = kernels::simt::sums_words(1);
  const kernels::Buffer sums = lane.device.allocate_array<std::uint32_t>(words, "sums");
  lane.stream.fill(sums, 0xFFFF'FFFFU);
  kernels::simt::Results results;
  results.sums = sums.address();
  kernels::simt::replay_resident(lane.device, lane.stream, lane.warps, lane.places.address(), 1, results);
  std::vector<std::uint32_t> found(words);
  lane.stream.download_array(sums, found);
  lane.stream.wait();
  EXPECT_THAT(std::vector(found.begin(), found.begin() + 6),
              testing::ElementsAre(99U, 0U, 99U, 0U, 0xFFFF'FFFFU, 0xFFFF'FFFFU));
}

TEST(ReplayKernel, RefusesQueuesThatItsSumsCouldNotHold) {
  OneLane lane((std::uint64_t{1} << 26U) + 1);
  const std::vector<std::uint32_t> piece_at{0};
  try {
    (void)kernels::simt::replay(lane.device, lane.stream, lane.warps, {piece_at}, {}, {});
    ADD_FAILURE() << "nothing was refused";
  } catch (const DeviceError& error) {
    EXPECT_EQ(error.fault(), Fault::Unsupported);
    EXPECT_THAT(error.what(), testing::HasSubstr("more events than a device can replay"));
  }
}

}  // namespace
}  // namespace rayreplay
