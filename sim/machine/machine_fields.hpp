// The keys of a machine, declared once: for machine files (machine.hpp) and for the keys "machine.*" of an experiment
// (sim/settings/machine_settings.hpp).
//
// Contract: one row for each key, in the order of a machine file, with the member, its range, unit and help text.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <variant>

#include "sim/machine/machine.hpp"

namespace rayreplay::machine {

using MachineMember = std::variant<std::string Machine::*, bool Machine::*, std::uint32_t Machine::*,
                                   std::uint64_t Machine::*, double Machine::*>;

struct MachineField {
  const char* key;
  MachineMember member;
  double minimum = 0, maximum = 0;  ///< of numbers
  const char* unit = "";
  const char* text = "";  ///< one sentence; "": a text about the machine, no key of an experiment
};

[[nodiscard]] std::span<const MachineField> machine_fields();

}  // namespace rayreplay::machine
