// Checks one value of one key: type, range, units. Internal to this room.
#pragma once

#include <string>

#include "base/parameters.hpp"
#include "sim/settings/parameter_table.hpp"

namespace rayreplay::experiment {

/// The value in the key's type: texts are read as numbers and truth values where declared, whole numbers become
/// numbers, "64KiB" becomes bytes. Usage at `where` for other types and values out of range. `key` for messages.
[[nodiscard]] ParameterValue checked_value(const ExperimentParameter& parameter, std::string_view key,
                                           const ParameterValue& value, const std::string& where);

/// "64KiB" as a number of bytes; texts without a unit are unchanged.
[[nodiscard]] std::string without_unit(const std::string& text);

}  // namespace rayreplay::experiment
