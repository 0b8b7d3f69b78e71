// Faults of a command line, as errors.
//
// Contract: says for an error of CLI11 which option or argument is meant, what was found, what is expected, and the
// nearest known name. `root` has parsed the command line as far as it could.
#pragma once

#include <CLI/CLI.hpp>

#include "base/error.hpp"

namespace rayreplay::app {

[[nodiscard]] ErrorInfo argument_error(const CLI::App& root, const CLI::ParseError& error);

/// Usage for an option whose value is "": it would count as left out.
void require_values(const CLI::App& root);

}  // namespace rayreplay::app
