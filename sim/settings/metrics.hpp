// The metrics of all stages as one list, from which tables, database columns, objectives and the reference are made.
//
// Contract: names are snake_case, start with their subject ("simt_efficiency", "l1_hit_rate"), are unique and never a
// key of an experiment. `output` is the word of the key `outputs` that asks for the metric. Values are doubles; counts
// are exact below 2^53. A metric that does not apply (an L2 that is not there) is absent, never zero.
#pragma once

#include <string_view>
#include <vector>

#include "sim/settings/stage.hpp"

namespace rayreplay::experiment {

[[nodiscard]] const std::vector<Metric>& all_metrics();
/// Usage, with the nearest name, for an unknown one.
[[nodiscard]] const Metric& find_metric(std::string_view name);

}  // namespace rayreplay::experiment
