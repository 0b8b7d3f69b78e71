// Registers of a thread: the driver's where nobody has set the key.
#include "sim/settings/thread_registers.hpp"

#include <optional>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rayreplay::experiment {
namespace {

using testing::HasSubstr;

Settings completed(const Settings& settings = {}) {
  return complete(settings, NamedInput::Elsewhere);
}

const DriverRegisters kOfDriver{72, 3, "Register Count"};

TEST(ThreadRegisters, AreAssumedWhereNothingIsKnown) {
  Settings settings = completed();
  decide_registers(settings, std::nullopt);
  EXPECT_EQ(settings.integer(kThreadRegisters), 64);
  EXPECT_EQ(origin_of_registers(settings), machine::Origin::Assumed);
  EXPECT_EQ(note_on_registers(settings), "");
}

TEST(ThreadRegisters, AreTheDriversWhereNobodyHasSetThem) {
  Settings settings = completed();
  decide_registers(settings, kOfDriver);
  EXPECT_EQ(settings.integer(kThreadRegisters), 72);
  EXPECT_EQ(origin_of_registers(settings), machine::Origin::Captured);
  EXPECT_THAT(note_on_registers(settings),
              HasSubstr("a thread has 72 registers, as the driver says of pipeline 3 (Register Count)"));
  const Settings again = completed(settings);
  EXPECT_EQ(again.integer(kThreadRegisters), 72);
  EXPECT_EQ(origin_of_registers(again), machine::Origin::Captured) << "also when they are completed once more";
}

TEST(ThreadRegisters, ByHandWin) {
  for (const char* where : {"--registers", "--set", "e.toml:3"}) {
    for (const std::int64_t by_hand : {std::int64_t{64}, std::int64_t{96}}) {
      Settings asked;
      asked.set(kThreadRegisters, by_hand, where);
      Settings settings = completed(asked);
      decide_registers(settings, kOfDriver);
      EXPECT_EQ(settings.integer(kThreadRegisters), by_hand) << where;
      EXPECT_NE(origin_of_registers(settings), machine::Origin::Captured);
      EXPECT_EQ(note_on_registers(settings), "");
    }
  }
}

TEST(ThreadRegisters, AreThoseOfTheLaunchThatIsChosenLast) {
  Settings settings = completed();
  decide_registers(settings, kOfDriver);
  decide_registers(settings, DriverRegisters{40, 5, "VGPRs"});
  EXPECT_EQ(settings.integer(kThreadRegisters), 40);
  EXPECT_THAT(note_on_registers(settings), HasSubstr("pipeline 5 (VGPRs)"));
  decide_registers(settings, std::nullopt);
  EXPECT_EQ(settings.integer(kThreadRegisters), 64);
  EXPECT_EQ(origin_of_registers(settings), machine::Origin::Assumed);
  EXPECT_EQ(settings.where(kThreadRegisters), "");
}

TEST(ThreadRegisters, KeepTheirOriginInAConfigurationThatIsReadBack) {
  Settings settings = completed();
  decide_registers(settings, kOfDriver);
  Settings again = completed(parse_experiment(to_toml(settings, false), "e.toml", ""));
  EXPECT_EQ(origin_of_registers(again), machine::Origin::Given) << "no launch is known yet";
  decide_registers(again, kOfDriver);
  EXPECT_EQ(origin_of_registers(again), machine::Origin::Captured);
  EXPECT_EQ(note_on_registers(again), note_on_registers(settings));
  EXPECT_EQ(to_toml(again, false), to_toml(settings, false));
  // Of a launch with other registers, or of none, the file's number is that of the file.
  const std::string where = parse_experiment(to_toml(settings, false), "e.toml", "").where(kThreadRegisters);
  for (const std::optional<DriverRegisters>& other :
       {std::optional<DriverRegisters>(), std::optional<DriverRegisters>({40, 5, "VGPRs"})}) {
    Settings moved = again;
    decide_registers(moved, other);
    EXPECT_EQ(moved.integer(kThreadRegisters), 72);
    EXPECT_EQ(moved.where(kThreadRegisters), where);
    EXPECT_EQ(origin_of_registers(moved), machine::Origin::Given);
    decide_registers(moved, kOfDriver);
    EXPECT_EQ(origin_of_registers(moved), machine::Origin::Captured);
  }
}

TEST(ThreadRegisters, OnTheCommandLineAreByHandEvenIfTheyAreTheDrivers) {
  Settings asked;
  asked.set(kThreadRegisters, std::int64_t{72}, "--registers");
  Settings settings = completed(asked);
  decide_registers(settings, kOfDriver);
  EXPECT_EQ(origin_of_registers(settings), machine::Origin::Given);
}

}  // namespace
}  // namespace rayreplay::experiment
