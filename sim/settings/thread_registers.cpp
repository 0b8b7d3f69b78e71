#include "sim/settings/thread_registers.hpp"

#include <string_view>

#include <fmt/format.h>

#include "base/count_text.hpp"

namespace rayreplay::experiment {
namespace {

constexpr std::string_view kDriver = "the driver, of ";

const ParameterValue& usual() {
  return find_parameter(kThreadRegisters)->declared.default_value;
}

}  // namespace

bool is_of_driver(const Settings& settings) {
  return settings.where(kThreadRegisters).starts_with(kDriver);
}

void decide_registers(Settings& settings, const std::optional<DriverRegisters>& driver) {
  if (!settings.where(kThreadRegisters).empty() && !is_of_driver(settings)) {
    return;
  }
  if (driver) {
    settings.set(kThreadRegisters, std::int64_t{driver->registers},
                 fmt::format("{}pipeline {} ({})", kDriver, driver->pipeline, driver->statistic));
  } else if (is_of_driver(settings)) {
    settings.set(kThreadRegisters, usual(), "");
  }
}

machine::Origin origin_of_registers(const Settings& complete) {
  return is_of_driver(complete)                            ? machine::Origin::Captured
         : is_by_hand(complete, kThreadRegisters, usual()) ? machine::Origin::Given
                                                           : machine::Origin::Assumed;
}

std::string note_on_registers(const Settings& complete) {
  if (!is_of_driver(complete)) {
    return "";
  }
  return fmt::format("a thread has {}, as the driver says of {}; {} gives another number",
                     counted(static_cast<std::uint64_t>(complete.integer(kThreadRegisters)), "register"),
                     complete.where(kThreadRegisters).substr(kDriver.size()), find_parameter(kThreadRegisters)->flag);
}

}  // namespace rayreplay::experiment
