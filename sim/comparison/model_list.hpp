// Lists of model specs in the user's syntax: "plain,ser:scope=sm,arrival=full,wavefront".
//
// Contract: specs contain commas. A comma followed by `key=` continues the spec before it; a comma followed by a name
// starts the next one; "all" means every registered model with its defaults. `known`: the registered names, in the
// order of "all". Names and settings are checked when the models are made. Errors: Usage for an empty item, and for a
// setting without a name before it.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace rayreplay::experiment {

/// Specs with every parameter, in the order of `compare`'s rows: plain first, no duplicates.
[[nodiscard]] std::vector<std::string> resolve_models(const std::vector<std::string>& specs);

/// Names of the parameters that the user gave, by resolved spec: given values are not assumed, also where they are the
/// defaults.
using GivenParameters = std::map<std::string, std::set<std::string>>;
/// `specs`: as the user wrote them. One that names every parameter, in order, is from a printed configuration: as in
/// such files, only values other than the defaults count as given.
[[nodiscard]] GivenParameters parameters_given(const std::vector<std::string>& specs);

[[nodiscard]] std::vector<std::string> split_model_list(std::string_view text, const std::vector<std::string>& known);

}  // namespace rayreplay::experiment
