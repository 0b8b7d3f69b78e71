// A sweep: which configurations are asked for. The file `sweep.toml`, and what it means.
//
// Contract: `parse_sweep` reads TOML (docs/sweeps.md has every form):
//
//   [experiment]                  # keys of an experiment, as in its own file; or base = "e.toml" with `experiment` on
//   top trace = "t.rrt" [axes]                        # the product of all, in the order of the file "cache.l1.bytes" =
//   { powers_of_two = ["4KiB", "1MiB"] }     # both ends included "cache.l1.ways" = [1, 2, 4] "machine.sms" = { from =
//   1, to = 16, step = 5 }             # or count = 4; scale = "log" with count "scheduler.model:pool" = [1, 2] # a
//   parameter of the spec
//   [[zip]]                       # axes that move together: equal lengths; one factor of the product
//   "bvh.layout" = ["wide-8", "binary"]
//   "bvh.node_order" = ["depth-first", "breadth-first"]
//   exclude = [ { "cache.l1.ways" = 4, "cache.l1.bytes" = 4096 } ]  # top level: every key of one of them matches
//   where = [ "cache.l1.bytes <= cache.l2.bytes" ]              # top level: conditions that all hold (condition.hpp)
//   sampler = "grid"              # spec; kind "sampler"
//   objective = "more l1_hit_rate"                              # or "less NAME", or NAME with its own goal
//   [stop]
//   runs = 1000
//   seconds = 3600
//
// A range {from, to} without step or count is continuous: for samplers that draw numbers. Values are checked by their
// key (Settings::set). Errors: Usage with file and line: unknown keys (the nearest), wrong types, empty lists and
// ranges, a key on two axes, zips of unequal lengths, a continuous range for the sampler `grid`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/experiment/settings/metrics.hpp"
#include "sim/experiment/settings/settings.hpp"
#include "sim/sweep/definition/condition.hpp"

namespace rayreplay::sweep {

struct Range {
  double low = 0, high = 0;
  bool logarithmic = false;
  bool whole = false;  ///< the key is a whole number
};

struct Axis {
  std::string key;
  std::vector<ParameterValue> values;  ///< empty: continuous
  std::optional<Range> range{};
  std::string where;
};

/// Axes that move together; most have one.
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

/// Every axis key in the order of the file.
[[nodiscard]] std::vector<std::string> axis_keys(const Definition& definition);

/// 32 hexadecimal digits over all that decides which configurations there are and what they mean; not over `stop` and
/// `objective`.
[[nodiscard]] std::string definition_hash(const Definition& definition);

}  // namespace rayreplay::sweep
