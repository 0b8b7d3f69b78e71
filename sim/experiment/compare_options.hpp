// From a configuration to what `compare` takes: names become models, hints and costs that exist.
//
// Contract: `compare_options` checks everything that needs no trace: models and their parameters, hints and their
// formulas, the machine, cost source, ranges. Hints of one name are a Usage error. `parse_shader_cost_list` reads
// "SHADER=ISSUE" and "SHADER=ISSUE:LATENCY" between commas, numbers of 0 or more; a shader as in [costs].
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/experiment/compare.hpp"
#include "sim/experiment/configuration.hpp"

namespace rayreplay::experiment {

[[nodiscard]] CompareOptions compare_options(const ModelsConfiguration& configuration);

/// Specs with every parameter, in the order of `compare`'s rows: plain first, none twice.
[[nodiscard]] std::vector<std::string> resolve_models(const std::vector<std::string>& specs);

[[nodiscard]] std::vector<machine::HandCost> parse_shader_cost_list(std::string_view text);

[[nodiscard]] const char* to_string(machine::CostSource source);

}  // namespace rayreplay::experiment
