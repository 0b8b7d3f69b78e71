// Texts that name models, in full. Internal to this room.
//
// Contract: the spec with every parameter, as the key's registry completes it; "auto" where the key knows it stays, a
// key without a model kind is checked where it has a grammar of its own (hints). The answer to a text is remembered: a
// sweep asks for the same ones again and again. Workloads are looked up where their library is linked; elsewhere their
// text stays as it is. Errors of the registries, without a place. Thread-safe.
#pragma once

#include <string>

#include "sim/settings/parameter_table.hpp"

namespace rayreplay::experiment {

[[nodiscard]] std::string completed_text(const ExperimentParameter& parameter, const std::string& text);

}  // namespace rayreplay::experiment
