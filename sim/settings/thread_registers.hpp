// The registers of a thread: given, or those that the driver names for the launch's pipeline, or assumed.
//
// Contract: if nobody has set the key, it takes the driver's number where the trace has it (decided_value.hpp): its
// place then names the driver, the pipeline and the statistic. A configuration that is read back with the launch's own
// number has it from the driver again. O(1).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "sim/machine/origin.hpp"
#include "sim/settings/settings.hpp"

namespace rayreplay::experiment {

inline constexpr const char* kThreadRegisters = "registers_per_thread";

/// What the driver says of the launch's pipeline.
struct DriverRegisters {
  std::uint32_t registers = 0;
  std::uint32_t pipeline = 0;
  std::string statistic;  ///< its name
};

/// Settings may be complete or not.
void decide_registers(Settings& settings, const std::optional<DriverRegisters>& driver);

/// Whether the number is the driver's.
[[nodiscard]] bool is_of_driver(const Settings& settings);

/// Given, captured (the driver's), or assumed.
[[nodiscard]] machine::Origin origin_of_registers(const Settings& complete);

/// "a thread has 72 registers, as the driver says of pipeline 0 (Register Count); --registers gives another
/// number"; "" where it is not the driver's.
[[nodiscard]] std::string note_on_registers(const Settings& complete);

}  // namespace rayreplay::experiment
