#include "kernels/accelerator.hpp"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernels/launch_on_device.hpp"
#include "kernels/twins.hpp"
#include "tests/kernels/affine_kernel.hpp"
#include "tests/support/accelerator.hpp"
#include "tests/support/error_of.hpp"

namespace rayreplay::kernels {
namespace {

using ::testing::HasSubstr;

struct Fixture {
  std::vector<std::string> logged;
  std::unique_ptr<Accelerator> accelerator;

  explicit Fixture(bool required, const DeviceOptions& options = {}, std::size_t devices = 1)
      : accelerator(test::open_accelerator(devices, required, options,
                                           [this](const std::string& line) { logged.push_back(line); })) {}

  std::string run(const Needs& needs = {}) const {
    return accelerator->run(
        "affine", needs,
        [](Accelerator::Devices devices) {
          for (Device* device : devices_of(devices)) {
            EXPECT_EQ(affine(*device, numbers(10)), affine_twin(numbers(10)));
          }
          return std::string("device");
        },
        [] { return std::string("processor"); });
  }
};

TEST(Accelerator, RunsOnItsDeviceAndRecordsIt) {
  const Fixture fixture(false);
  EXPECT_EQ(fixture.run(), "device");
  EXPECT_EQ(fixture.run(), "device");
  const std::string name = fixture.accelerator->devices().at(0)->name();
  EXPECT_EQ(fixture.accelerator->records(), (std::vector<StageRecord>{{"affine", name, "", 2}}));
  EXPECT_TRUE(fixture.logged.empty());
}

TEST(Accelerator, SeveralDevicesShareAStage) {
  const Fixture fixture(false, {}, 2);
  EXPECT_EQ(fixture.run(), "device");
  EXPECT_THAT(fixture.accelerator->records().at(0).device, HasSubstr(", "));
}

TEST(Accelerator, GoesOnOnTheProcessorWhenTheDeviceIsLost) {
  DeviceOptions options;
  options.lose_at_submission = 2;
  const Fixture fixture(false, options);
  EXPECT_EQ(fixture.run(), "device");
  EXPECT_EQ(fixture.run(), "processor");
  EXPECT_FALSE(fixture.accelerator->has_device());
  EXPECT_EQ(fixture.run(), "processor");
  EXPECT_EQ(fixture.run(), "processor");
  const auto& records = fixture.accelerator->records();
  ASSERT_EQ(records.size(), 3U);
  EXPECT_EQ(records[1].device, "CPU");
  EXPECT_THAT(records[1].reason, HasSubstr("lost"));
  EXPECT_EQ(records[2].runs, 2U);
  EXPECT_EQ(fixture.logged.size(), 2U);
}

TEST(Accelerator, ADeviceAskedForByNameIsNotReplaced) {
  DeviceOptions options;
  options.lose_at_submission = 1;
  const Fixture fixture(true, options);
  EXPECT_THROW((void)fixture.run(), DeviceError);
  EXPECT_THROW((void)fixture.accelerator->run(
                   "memory", {},
                   [](Accelerator::Devices) -> int {
                     throw DeviceError(Fault::Memory, {"too much", "", "", "", ""});
                   },
                   [] { return 1; }),
               DeviceError);
}

TEST(Accelerator, ErrorsThatAreNoFaultsOfTheDeviceGoOn) {
  const Fixture fixture(false);
  EXPECT_THROW(
      (void)fixture.accelerator->run(
          "bad input", {}, [](Accelerator::Devices) -> int { throw Error(ErrorKind::Input, {}); }, [] { return 1; }),
      Error);
}

TEST(Accelerator, WithoutDevicesTheProcessorIsNothingToTell) {
  Accelerator accelerator;
  EXPECT_EQ(accelerator.run(
                "a", {}, [](Accelerator::Devices) { return 1; }, [] { return 2; }),
            2);
  accelerator.note_cpu("b", "there is no kernel");
  EXPECT_EQ(accelerator.records(), (std::vector<StageRecord>{{"a", "CPU", "", 1}, {"b", "CPU", "", 1}}));
}

TEST(Choice, ByNumberNameAndUuid) {
  const DeviceInfo info = test::open_test_device()->info();
  const auto open = [](const std::string& choice) { return make_accelerator(choice, {}, {}); };
  std::vector<std::string> choices{"vulkan:" + std::to_string(info.index), info.uuid};
  const std::vector<DeviceInfo> all = list_devices();
  // Names of twins say nothing.
  if (std::count_if(all.begin(), all.end(), [&](const DeviceInfo& one) { return one.name == info.name; }) == 1) {
    choices.insert(choices.end(), {info.name, info.name.substr(0, 5), "vulkan:" + info.name});
  }
  for (const std::string& choice : choices) {
    const std::unique_ptr<Accelerator> opened = open(choice);
    ASSERT_EQ(opened->devices().size(), 1U) << choice;
    EXPECT_EQ(devices_of(*opened)[0]->info().index, info.index);
  }
  EXPECT_FALSE(open("cpu")->has_device());
  EXPECT_FALSE(open("CPU")->has_device());
}

TEST(Choice, WhatIsNotThere) {
  for (const char* choice : {"vulkan:999", "vulkan:99999999999999999999", "no-such-gpu", "", "vulkan:", "cpu,cpu", "lv",
                             ",", "vulkan:0,vulkan:0"}) {
    const ErrorInfo error = test::error_of(ErrorKind::Usage, [&] { return make_accelerator(choice, {}, {}); });
    EXPECT_THAT(error.fix, HasSubstr("rayreplay devices")) << choice;
  }
}

/// A stage that gives up after it has uploaded a column to stay: the next one finds it written.
TEST(LaunchOnDevice, KeepsWhatAStageThatFailedHasUploaded) {
  const Fixture fixture(false);
  trace::Launch launch;
  for (std::uint16_t i = 0; i < 1000; ++i) {
    launch.data.events.shader.push_back(i);
  }
  LaunchOnDevice on_device(launch);
  const auto first = fixture.accelerator->run(
      "first", {},
      [&](Accelerator::Devices given) -> int {
        Device& device = *devices_of(given)[0];
        Stream stream(device);
        (void)on_device.column(device, stream, launch.data.events.shader);
        (void)on_device.derived(device, stream, "sevens", [](Device& one, Stream& of) {
          Buffer made = one.allocate(64, "sevens");
          of.fill(made, 7);
          return made;
        });
        throw DeviceError(Fault::Memory, {"no more memory", "", "", "", ""});
      },
      [] { return 1; });
  EXPECT_EQ(first, 1);
  Device& device = *devices_of(*fixture.accelerator).at(0);
  Stream stream(device);
  trace::Column<std::uint16_t> column(1000);
  std::vector<std::uint32_t> sevens(16);
  stream.download_array(on_device.column(device, stream, launch.data.events.shader), column);
  stream.download_array(
      on_device.derived(device, stream, "sevens", [](Device& one, Stream&) { return one.allocate(64, "made anew"); }),
      sevens);
  stream.wait();
  EXPECT_EQ(column, launch.data.events.shader);
  EXPECT_EQ(sevens, std::vector<std::uint32_t>(16, 7));
}

TEST(LaunchOnDevice, UploadsAColumnOnce) {
  const Fixture fixture(false);
  trace::Launch launch;
  for (std::uint16_t i = 0; i < 100; ++i) {
    launch.data.events.shader.push_back(i);
  }
  LaunchOnDevice on_device(launch);
  Device& device = *devices_of(*fixture.accelerator)[0];
  Stream stream(device);
  const Buffer& column = on_device.column(device, stream, launch.data.events.shader);
  EXPECT_EQ(&on_device.column(device, stream, launch.data.events.shader), &column);
  EXPECT_GE(on_device.column(device, stream, launch.data.events.t).bytes(), 16U);
  int made = 0;
  const auto make = [&](Device& one, Stream&) {
    ++made;
    return one.allocate(64, "derived");
  };
  const Buffer& derived = on_device.derived(device, stream, "test", make);
  EXPECT_EQ(&on_device.derived(device, stream, "test", make), &derived);
  EXPECT_EQ(made, 1);
  trace::Column<std::uint16_t> result(100);
  stream.download_array(column, result);
  stream.wait();
  EXPECT_EQ(result, launch.data.events.shader);
}

}  // namespace
}  // namespace rayreplay::kernels
