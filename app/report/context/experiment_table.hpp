// The tables of `rayreplay run`: the metrics of one experiment, and the stages of `--dry-run`.
//
// Contract: one row a metric, in the order of all_metrics(), with value, unit and goal. JSON has schema
// "rayreplay.run/1": tool, the input with its hash, every key of the complete settings, and the rows. Independent of
// time, machine, and the content of the store. Keys are listed in docs/surfaces.md.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "app/report/export/table.hpp"
#include "sim/engine/evaluator.hpp"
#include "sim/settings/settings.hpp"

namespace rayreplay::report {

/// For JSON and CSV: exact values.
[[nodiscard]] output::Table metrics_table(const experiment::Outcome& outcome);
/// For text: values with significant digits only, below their origin.
[[nodiscard]] std::string experiment_text(const experiment::Settings& settings, const experiment::Outcome& outcome);
[[nodiscard]] output::Table experiment_rows(const experiment::Settings& settings, const experiment::Outcome& outcome);
[[nodiscard]] nlohmann::ordered_json experiment_json(const experiment::Settings& settings,
                                                     const experiment::Outcome& outcome);

/// Every key with its typed value: {"cache.l1.bytes": 131072, …}.
[[nodiscard]] nlohmann::ordered_json settings_json(const experiment::Settings& settings);

/// "l1_hit_rate" for display: "84.2 %", "1,234,567", "0.0123".
[[nodiscard]] std::string metric_text(double value, const std::string& unit);

[[nodiscard]] output::Table forecast_table(const std::vector<experiment::StageForecast>& stages);
/// As text: the table, and the sums.
[[nodiscard]] std::string forecast_text(const std::vector<experiment::StageForecast>& stages);
/// Schema "rayreplay.forecast/2".
[[nodiscard]] nlohmann::ordered_json forecast_json(const experiment::Settings& settings,
                                                   const std::vector<experiment::StageForecast>& stages);

}  // namespace rayreplay::report
