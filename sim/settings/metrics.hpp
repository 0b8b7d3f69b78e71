// Every number that an experiment can give: the metrics of all stages as one list, from which tables, database columns,
// objectives and the reference documentation are made.
//
// Contract: names are snake_case words that start with what they are of ("simt_efficiency", "l1_hit_rate"), unique, and
// never a key of an experiment. `output` is the word of the key `outputs` that asks for it. Values are doubles; counts
// are exact below 2^53. A metric that an experiment does not have (an L2 that is not there) is absent, never zero.
#pragma once

#include <string_view>
#include <vector>

#include "sim/settings/stage.hpp"

namespace rayreplay::experiment {

[[nodiscard]] const std::vector<Metric>& all_metrics();
/// Usage names the nearest.
[[nodiscard]] const Metric& find_metric(std::string_view name);

}  // namespace rayreplay::experiment
