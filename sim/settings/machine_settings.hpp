// The machine of an experiment, key by key: "machine.sms", "machine.l1_bytes", …
//
// Contract: every number and truth value of machine::Machine is a key, with the range that machine files have
// (sim/machine/machine.hpp). `machine_of` makes the machine of complete settings: that which "machine.name" names, with
// what its keys say in place of its own. Where "machine.sms" is set lower than the SMs that the machine withholds, and
// "machine.withheld_sms" is not set, complete settings withhold all SMs but one.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/parameters.hpp"
#include "sim/machine/machine.hpp"
#include "sim/settings/parameter_table.hpp"
#include "sim/settings/settings.hpp"

namespace rayreplay::experiment {

inline constexpr const char* kMachineName = "machine.name";

/// Without "machine.name". Defaults are the machine's that stands where no other is named.
[[nodiscard]] std::vector<ExperimentParameter> machine_parameters();

/// Key and value, in the order of machine_parameters().
[[nodiscard]] std::vector<std::pair<std::string, ParameterValue>> machine_values(const machine::Machine& machine);

/// A shipped machine or a file, read once in the life of the process. Errors as machine::load_machine.
[[nodiscard]] const machine::Machine& known_machine(const std::string& name_or_path);

[[nodiscard]] machine::Machine machine_of(const Settings& complete);

}  // namespace rayreplay::experiment
