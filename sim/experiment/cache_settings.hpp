// The options of a cache experiment by name: what the table [cache] of a configuration and the command line set.
//
// Contract: one list of parameters with defaults, ranges and texts; keys are snake_case, options of the command line
// the same words with '-'. `apply_cache_settings` sets what is named, in order; Usage for unknown keys (names the
// nearest) and for values of the wrong type or out of range, at the setting's `where`, which is kept for later messages
// (CacheOptions::where). Specs are not looked up here: `check` (cache.hpp) does. What `cache_toml` writes is read back
// to the same options.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/parameters.hpp"
#include "sim/experiment/cache.hpp"
#include "sim/experiment/configuration.hpp"

namespace rayreplay::experiment {

struct CacheParameter {
  Parameter declared;
  const char* group = "";  ///< of the command's help
  const char* type = "";   ///< there: "SPEC", "N"
};

[[nodiscard]] const std::vector<CacheParameter>& cache_parameters();

void apply_cache_settings(const std::vector<CacheSetting>& settings, CacheOptions& options);

/// Every key with its value, in the order of the list.
[[nodiscard]] std::vector<std::pair<std::string, ParameterValue>> cache_settings(const CacheOptions& options);

/// "[cache]" and a line for each key.
[[nodiscard]] std::string cache_toml(const CacheOptions& options);

}  // namespace rayreplay::experiment
