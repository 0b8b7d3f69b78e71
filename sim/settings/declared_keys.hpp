// The table of keys. Internal to this room; parameter_table.hpp is its interface.
#pragma once

#include <vector>

#include "sim/settings/parameter_table.hpp"

namespace rayreplay::experiment {

[[nodiscard]] std::vector<ExperimentParameter> declared_keys();
[[nodiscard]] std::vector<Shorthand> declared_shorthands();

}  // namespace rayreplay::experiment
