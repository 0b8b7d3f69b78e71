// Twins with devices of straw: who runs, and what the records say.
#include "base/twin.hpp"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rayreplay {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class Straw final : public ComputeDevice {
 public:
  explicit Straw(std::string name, bool float64 = true) : name_(std::move(name)), float64_(float64) {}

  [[nodiscard]] const std::string& name() const override {
    return name_;
  }
  [[nodiscard]] std::string lacks(const DeviceNeeds& needs) const override {
    return needs.float64 && !float64_ ? "64-bit floats" : "";
  }
  [[nodiscard]] bool is_lost() const override {
    return lost;
  }

  bool lost = false;

 private:
  std::string name_;
  bool float64_;
};

struct Machine {
  std::vector<Straw*> straws;
  std::vector<std::string> told;
  Accelerator accelerator;

  explicit Machine(bool required, bool float64 = true) : accelerator(make(float64), required, log()) {}

  std::vector<std::unique_ptr<Straw>> make(bool float64) {
    std::vector<std::unique_ptr<Straw>> devices;
    devices.push_back(std::make_unique<Straw>("one", float64));
    devices.push_back(std::make_unique<Straw>("two", float64));
    straws = {devices[0].get(), devices[1].get()};
    return devices;
  }
  Accelerator::Log log() {
    return [this](const std::string& line) { told.push_back(line); };
  }
};

using Greeting = Twin<std::string(const std::string&)>;

std::string greet(const Greeting& twin, Accelerator* accelerator) {
  const std::string whom = "world";
  return twin.run(
      accelerator, [&] { return whom + " from the processor"; }, whom);
}

std::string greet_there(Accelerator::Devices devices, const std::string& whom) {
  std::string names;
  for (const ComputeDevice* device : devices) {
    names += " " + device->name();
  }
  return whom + " from" + names;
}

TEST(Twin, WithoutAnAcceleratorOrARegistrationTheProcessorDoes) {
  Greeting twin("greeting");
  EXPECT_EQ(greet(twin, nullptr), "world from the processor");
  Machine machine(true);
  EXPECT_EQ(greet(twin, &machine.accelerator), "world from the processor");
  ASSERT_EQ(machine.accelerator.records().size(), 1U);
  EXPECT_EQ(machine.accelerator.records()[0].device, "CPU");
  EXPECT_THAT(machine.accelerator.records()[0].reason, HasSubstr("without its kernels"));
}

TEST(Twin, RunsOnAllDevicesOrOnTheFirst) {
  Machine machine(true);
  Greeting all("all");
  const Greeting::Registrar for_all(all, {.run = greet_there});
  Greeting first("first");
  const Greeting::Registrar for_first(first, {.run = greet_there, .only_first = true});
  EXPECT_EQ(greet(all, &machine.accelerator), "world from one two");
  EXPECT_EQ(greet(first, &machine.accelerator), "world from one");
  EXPECT_THAT(machine.accelerator.records(),
              ElementsAre(StageRecord{"all", "one, two", "", 1}, StageRecord{"first", "one", "", 1}));
  Accelerator nobody;
  EXPECT_EQ(greet(all, &nobody), "world from the processor");
  EXPECT_THAT(nobody.records(), ElementsAre(StageRecord{"all", "CPU", "", 1}));
}

TEST(Twin, DevicesThatLackWhatItNeedsAreNotAsked) {
  Machine machine(true, false);
  Greeting twin("greeting");
  const Greeting::Registrar registrar(
      twin, {.run = greet_there, .needs = [](const std::string&) { return DeviceNeeds{.float64 = true}; }});
  EXPECT_EQ(greet(twin, &machine.accelerator), "world from the processor");
  EXPECT_THAT(machine.accelerator.records().at(0).reason, HasSubstr("64-bit floats"));
}

// Not an error, also where the device was asked for by name, and nothing to tell.
TEST(Twin, WithoutAKernelForTheInputTheProcessorDoes) {
  Machine machine(true);
  Greeting twin("greeting");
  const Greeting::Registrar registrar(twin, {.run = [](Accelerator::Devices, const std::string& whom) -> std::string {
                                        throw NoKernel{whom + " has no kernel"};
                                      }});
  EXPECT_EQ(greet(twin, &machine.accelerator), "world from the processor");
  EXPECT_THAT(machine.accelerator.records(), ElementsAre(StageRecord{"greeting", "CPU", "world has no kernel", 1}));
  EXPECT_TRUE(machine.told.empty());
}

TEST(Twin, AFaultFallsBackUnlessTheDeviceWasAskedForByName) {
  Greeting twin("greeting");
  const Greeting::Registrar registrar(twin,
                                      {.run = [](Accelerator::Devices devices, const std::string&) -> std::string {
                                        static_cast<Straw*>(devices.front())->lost = true;
                                        throw DeviceError(Fault::Lost, {"the device was lost", "", "", "", ""});
                                      }});
  Machine named(true);
  EXPECT_THROW((void)greet(twin, &named.accelerator), DeviceError);
  Machine any(false);
  EXPECT_EQ(greet(twin, &any.accelerator), "world from the processor");
  EXPECT_EQ(any.told.size(), 1U);
  EXPECT_EQ(any.accelerator.devices().size(), 1U);
  EXPECT_EQ(any.accelerator.devices()[0]->name(), "two");
}

TEST(Twin, MayReturnNothing) {
  Machine machine(true);
  Twin<void(int&)> twin("count");
  const Twin<void(int&)>::Registrar registrar(twin, {.run = [](Accelerator::Devices, int& count) { count += 2; }});
  int count = 0;
  twin.run(
      &machine.accelerator, [&] { ++count; }, count);
  EXPECT_EQ(count, 2);
  twin.run(
      nullptr, [&] { ++count; }, count);
  EXPECT_EQ(count, 3);
}

}  // namespace
}  // namespace rayreplay
