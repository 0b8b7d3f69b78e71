// The tables of `rayreplay whatif --models`: one row per scheduler model; efficiency by stage and bounce.
//
// Contract: `models_table` and `stage_rows` have the keys of JSON and CSV (docs/surfaces.md). Shares of time are of SMs
// · cycles. Text names models by their name and non-default parameters.
#pragma once

#include <string>

#include "app/report/export/table.hpp"
#include "sim/comparison/compare.hpp"

namespace rayreplay::report {

/// "ser:scope=sm": the resolved spec without parameters at their defaults.
[[nodiscard]] std::string short_spec(const std::string& resolved);

[[nodiscard]] output::Table models_table(const experiment::CompareResult& result);
/// For text: models by their short names.
[[nodiscard]] output::Table short_models_table(const experiment::CompareResult& result);

/// `model`, `bounce` (empty: all), `stage`, and the sums of its warp events; only stages that occur.
[[nodiscard]] output::Table stage_rows(const experiment::CompareResult& result);
/// Histogram of warp events by active lanes.
[[nodiscard]] output::Table lane_rows(const experiment::CompareResult& result);
/// Speed-up over shader cost and live state.
[[nodiscard]] output::Table response_rows(const experiment::CompareResult& result);
/// The cost of every call of the launch, with its source.
[[nodiscard]] output::Table cost_rows(const experiment::CompareResult& result, const trace::Trace& trace);
/// For text: also with origins as words (sim/machine/origin.hpp).
[[nodiscard]] output::Table shown_costs(const experiment::CompareResult& result, const trace::Trace& trace);
/// "a closest-hit call takes 141.3 instructions on average (source: blocks)"
[[nodiscard]] std::string hit_cost_text(const experiment::CompareResult& result);

/// Tables for text, with a column for each model. Rows: the stages (with paths of calls, each has a second row by
/// path), and the first bounces.
[[nodiscard]] output::Table efficiency_by_stage(const experiment::CompareResult& result);
[[nodiscard]] output::Table efficiency_by_bounce(const experiment::CompareResult& result);

}  // namespace rayreplay::report
