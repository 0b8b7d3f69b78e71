#include "sim/settings/thread_registers.hpp"

#include <string_view>

#include <fmt/format.h>

#include "base/count_text.hpp"
#include "sim/settings/decided_value.hpp"

namespace rayreplay::experiment {
namespace {

constexpr std::string_view kDriver = "the driver, of ";

const ParameterValue& usual() {
  return find_parameter(kThreadRegisters)->declared.default_value;
}

}  // namespace

bool is_of_driver(const Settings& settings) {
  return is_decided(settings, kThreadRegisters, kDriver);
}

void decide_registers(Settings& settings, const std::optional<DriverRegisters>& driver) {
  std::optional<DecidedValue> decided;
  if (driver) {
    decided = {std::int64_t{driver->registers}, fmt::format("pipeline {} ({})", driver->pipeline, driver->statistic)};
  }
  decide(settings, kThreadRegisters, kDriver, decided);
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
                     reason_of(complete, kThreadRegisters, kDriver), find_parameter(kThreadRegisters)->flag);
}

}  // namespace rayreplay::experiment
