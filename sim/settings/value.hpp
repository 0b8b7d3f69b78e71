// One value of one key: type, range, units.
#pragma once

#include <string>

#include "base/parameters.hpp"
#include "sim/settings/parameter_table.hpp"

namespace rayreplay::experiment {

/// The value as the key's type: texts are read as numbers and truth values where those are declared, whole numbers are
/// numbers, "64KiB" is bytes. Usage at `where` for anything else and for what is out of range. `key` for messages.
[[nodiscard]] ParameterValue checked_value(const ExperimentParameter& parameter, std::string_view key,
                                           const ParameterValue& value, const std::string& where);

/// "64KiB" as bytes; what has no such unit stays as it is.
[[nodiscard]] std::string without_unit(const std::string& text);

}  // namespace rayreplay::experiment
