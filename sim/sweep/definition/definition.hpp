// The definition of a sweep: its configurations, parsed from the file `sweep.toml`.
//
// Contract: `parse_sweep` reads TOML. docs/sweeps.md has every form; the parts are:
//
// clang-format off
//   base = "e.toml"               the experiment file that the sweep starts from
//   sampler = "grid"              spec; kind "sampler"
//   objective = "more NAME"       or "less NAME", or NAME with its own goal (sim/settings/metrics.hpp)
//   where = ["CONDITION", …]      all hold (condition.hpp)
//   exclude = [{ KEY = VALUE, … }, …]   drops configurations with all values of one of them
//   [experiment]                  keys as in an experiment file; they replace those of `base`
//   [axes]                        KEY = [VALUES], { from, to, step }, { from, to, count[, scale = "log"] },
//                                 { powers_of_two = [A, B] }, or continuous { from, to[, scale = "log"] }
//   [[zip]]                       axes that move together: one factor of the product
//   [stop]                        runs, seconds
// clang-format on
//
// KEY may be "KEY:PARAM", a parameter of the key's spec. Factors are in the order of the file. Values are checked by
// their key (Settings::set). Errors: Usage with file and line for unknown keys (with the nearest), wrong types, empty
// lists and ranges, duplicate values and keys, zips of unequal lengths, and continuous ranges with a sampler that does
// not draw.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "sim/settings/metrics.hpp"
#include "sim/settings/settings.hpp"
#include "sim/sweep/definition/condition.hpp"

namespace rayreplay::sweep {

struct Range {
  double low = 0, high = 0;
  bool logarithmic = false;
  bool whole = false;  ///< the key is a whole number
};

struct Axis {
  std::string key;
  std::vector<ParameterValue> values;  ///< empty: a continuous range
  std::optional<Range> range{};
  std::string where;
  std::vector<std::string> places{};  ///< by value, for messages; empty: all are at `where`
};

/// Axes that move together (zipped); most factors have one.
struct Factor {
  std::vector<Axis> axes;
  [[nodiscard]] std::size_t size() const {
    return axes.front().values.size();
  }
};

struct Objective {
  std::string metric;
  experiment::Goal goal = experiment::Goal::More;
};

struct Definition {
  std::string folder{};                    ///< of the file; relative paths were resolved against it
  std::set<std::string> absolute_paths{};  ///< paths written as absolute (paths.hpp)
  experiment::Settings base;
  std::vector<Factor> factors;
  std::vector<std::vector<std::pair<std::string, ParameterValue>>> excludes;
  std::vector<Condition> conditions;
  std::string sampler = "grid";  ///< resolved spec
  std::optional<Objective> objective;
  std::uint64_t most_runs = 0;  ///< 0: all
  double most_seconds = 0;      ///< 0: no limit
};

[[nodiscard]] Definition parse_sweep(std::string_view toml, const std::string& source, const std::string& folder);

/// Sets "KEY=VALUE" on the base, as `--set` does. Usage for the key of an axis, because the axis would override it.
void set_on_base(Definition& definition, std::string_view assignment, const std::string& where);

/// All axis keys in the order of the file.
[[nodiscard]] std::vector<std::string> axis_keys(const Definition& definition);

struct AxisPlace {
  const Axis* axis = nullptr;  ///< null: the key is no axis
  std::size_t factor = 0;
};
[[nodiscard]] AxisPlace find_axis(const Definition& definition, std::string_view key);

/// 32 hexadecimal digits: a hash of everything that decides the configurations and their meaning. `stop` and
/// `objective` are not part of it. Paths are hashed relative to the sweep's folder, so moving the folder keeps the
/// hash.
[[nodiscard]] std::string definition_hash(const Definition& definition);

}  // namespace rayreplay::sweep
