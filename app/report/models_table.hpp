// The answer of `rayreplay whatif --models` as tables: one row per scheduler model; efficiency by stage and bounce.
//
// Contract: the keys of `models_table` and `stage_rows` are those of JSON and CSV (docs/surfaces.md). Shares of time
// are of SMs · cycles. In text, models are called by their name and what differs from the defaults.
#pragma once

#include <string>

#include "app/output/table.hpp"
#include "sim/comparison/compare.hpp"

namespace rayreplay::report {

/// "ser:scope=sm": the resolved spec without what is as the model's defaults have it.
[[nodiscard]] std::string short_spec(const std::string& resolved);

[[nodiscard]] output::Table models_table(const experiment::CompareResult& result);
/// For people: models by their short names.
[[nodiscard]] output::Table short_models_table(const experiment::CompareResult& result);

/// `model`, `bounce` (empty: all), `stage`, and what its warp events sum to; stages that occur.
[[nodiscard]] output::Table stage_rows(const experiment::CompareResult& result);
/// How many warp events had how many lanes active.
[[nodiscard]] output::Table lane_rows(const experiment::CompareResult& result);
/// Speed-up over shader cost and live state.
[[nodiscard]] output::Table response_rows(const experiment::CompareResult& result);
/// The cost of every call that the launch makes, and where it comes from.
[[nodiscard]] output::Table cost_rows(const experiment::CompareResult& result, const trace::Trace& trace);

/// For people: a row for each stage and one for each of the first bounces, a column for each model.
[[nodiscard]] output::Table efficiency_by_stage(const experiment::CompareResult& result);
[[nodiscard]] output::Table efficiency_by_bounce(const experiment::CompareResult& result);

}  // namespace rayreplay::report
