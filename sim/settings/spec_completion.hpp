// Completion of texts that name models. Internal to this room.
//
// Contract: returns the spec with every parameter, as completed by the key's registry. "auto" stays where the key
// allows it; a key without a model kind but with a grammar (hints) is checked. Results are cached by text, since a
// sweep repeats them. A program that is linked without workloads returns the text of a workload unchanged. Errors:
// those of the registries, without a place. Thread-safe.
#pragma once

#include <string>

#include "sim/settings/parameter_table.hpp"

namespace rayreplay::experiment {

[[nodiscard]] std::string completed_text(const ExperimentParameter& parameter, const std::string& text);

}  // namespace rayreplay::experiment
