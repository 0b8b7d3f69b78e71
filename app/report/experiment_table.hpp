// The answer of `rayreplay run`: the metrics of one experiment; and what `--dry-run` says about its stages.
//
// Contract: one row a metric, in the order of all_metrics(), with value, unit and what is better. JSON has schema
// "rayreplay.run/1": what computed it, the input with its hash, every key of the complete settings, and the rows.
// Nothing here depends on time, on the machine, or on what was in the store. Keys are listed in docs/surfaces.md.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "app/output/table.hpp"
#include "sim/engine/evaluator.hpp"
#include "sim/settings/settings.hpp"

namespace rayreplay::report {

/// For JSON and CSV: values as they are.
[[nodiscard]] output::Table metrics_table(const experiment::Outcome& outcome);
/// For people: values with as many digits as they are worth, above them where they come from.
[[nodiscard]] std::string experiment_text(const experiment::Settings& settings, const experiment::Outcome& outcome);
[[nodiscard]] std::string experiment_csv(const experiment::Settings& settings, const experiment::Outcome& outcome);
[[nodiscard]] nlohmann::ordered_json experiment_json(const experiment::Settings& settings,
                                                     const experiment::Outcome& outcome);

/// Every key with its typed value: {"cache.l1.bytes": 131072, …}.
[[nodiscard]] nlohmann::ordered_json settings_json(const experiment::Settings& settings);

/// "l1_hit_rate" as people read it: "84.2 %", "1,234,567", "0.0123".
[[nodiscard]] std::string metric_text(double value, const std::string& unit);

[[nodiscard]] output::Table forecast_table(const std::vector<experiment::StageForecast>& stages);
/// For people: the table, and the sums.
[[nodiscard]] std::string forecast_text(const std::vector<experiment::StageForecast>& stages);
/// Schema "rayreplay.forecast/2".
[[nodiscard]] nlohmann::ordered_json forecast_json(const experiment::Settings& settings,
                                                   const std::vector<experiment::StageForecast>& stages);

}  // namespace rayreplay::report
