// Values of keys that the trace decides where nobody has set them.
//
// Contract: `decide` gives a key the trace's value if nobody has set the key (by an option, a file, an axis or a
// search: its place is empty). The setting's place then starts with `mark`, goes on with the reason, and stays with the
// setting when settings are completed again. Deciding once more, for another launch, replaces such a value, or goes
// back to what was there before.
//
// Configurations have no origins: to_toml writes the value alone. A file that sets the very value that the trace
// decides may be such a configuration, so its value counts as decided; the place keeps that of the file behind the
// reason. On the command line a value is always by hand. Settings may be complete or not. O(1).
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "sim/settings/settings.hpp"

namespace rayreplay::experiment {

struct DecidedValue {
  ParameterValue value;
  std::string reason;
};

/// `by_trace`: empty where the trace does not decide.
void decide(Settings& settings, const std::string& key, std::string_view mark,
            const std::optional<DecidedValue>& by_trace);

[[nodiscard]] bool is_decided(const Settings& settings, const std::string& key, std::string_view mark);

/// The reason of a decided value.
[[nodiscard]] std::string reason_of(const Settings& settings, const std::string& key, std::string_view mark);

}  // namespace rayreplay::experiment
