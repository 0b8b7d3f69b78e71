// Lists of model specs as users write them: "plain,ser:scope=sm,arrival=full,wavefront".
//
// Contract: specs have commas of their own. A comma followed by `key=` goes on with the spec before it; a comma
// followed by a name starts the next one; "all" stands for every registered model with its defaults. `known` are the
// registered names, in the order of "all". Names and settings themselves are checked where the models are made. Errors:
// Usage for an empty item, and a setting that follows no name.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace rayreplay::experiment {

/// Specs with every parameter, in the order of `compare`'s rows: plain first, none twice.
[[nodiscard]] std::vector<std::string> resolve_models(const std::vector<std::string>& specs);

[[nodiscard]] std::vector<std::string> split_model_list(std::string_view text, const std::vector<std::string>& known);

}  // namespace rayreplay::experiment
