// The machine of an experiment, key by key: "machine.sms", "machine.l1_bytes", …
//
// Contract: every number and truth value of machine::Machine is a key, with the range of machine files
// (sim/machine/machine.hpp). `machine_of` returns the machine that "machine.name" names, with the values of the other
// keys in place of its own. If "machine.sms" is at most the machine's withheld SMs and "machine.withheld_sms" is not
// set, complete settings withhold all SMs but one. If "machine.sms" differs from the machine's own
// number and "machine.withheld_sms" is not set, the origin of the withheld SMs is assumed, whatever the machine's file
// says: the number was seen with all its SMs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/parameters.hpp"
#include "sim/machine/machine.hpp"
#include "sim/settings/parameter_table.hpp"
#include "sim/settings/settings.hpp"

namespace rayreplay::experiment {

inline constexpr const char* kMachineName = "machine.name";

/// Without "machine.name". Defaults are those of the default machine.
[[nodiscard]] std::vector<ExperimentParameter> machine_parameters();

/// Key and value, in the order of machine_parameters().
[[nodiscard]] std::vector<std::pair<std::string, ParameterValue>> machine_values(const machine::Machine& machine);

/// A shipped machine or a file, read once per process. Errors as machine::load_machine.
[[nodiscard]] const machine::Machine& known_machine(const std::string& name_or_path);

/// The machine's own number of withheld SMs where complete settings withhold fewer because "machine.sms" is small.
[[nodiscard]] std::optional<std::uint32_t> cut_withheld(const Settings& complete);

[[nodiscard]] machine::Machine machine_of(const Settings& complete);

}  // namespace rayreplay::experiment
