// Memory time in the output of `rayreplay cache`: parts of the SM-cycles, and busy shares of resources.
//
// Contract: only for results with memory time (`has_time`). `cache_time_table` has a row for each part of the
// SM-cycles, which sum to 1, then one for each resource with its busy share. `cache_time_sms` has a row for each part
// of an SM's cycles, then one for the cycles with warps: the least, median and largest share of an SM.
// `cache_time_stages` has a row for each stage of the pipeline: its share of all warp-cycles, and the share of each
// state in it. `cache_time_states` has a row for each SM: its cycles. Keys of the JSON: docs/surfaces.md.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "app/report/charts/plot.hpp"
#include "app/report/export/table.hpp"
#include "sim/caching/cache.hpp"

namespace rayreplay::report {

[[nodiscard]] bool has_time(const experiment::CacheResult& result);
/// The busiest resource, and the largest parts.
[[nodiscard]] std::string cache_time_answer(const experiment::CacheResult& result);
/// All parts and resources, as a line.
[[nodiscard]] std::string cache_time_sentence(const experiment::CacheResult& result);
[[nodiscard]] output::Table cache_time_table(const experiment::CacheResult& result);
[[nodiscard]] output::Table cache_time_sms(const experiment::CacheResult& result);
[[nodiscard]] output::Table cache_time_stages(const experiment::CacheResult& result);
/// `cache_time_stages` without the stages that no warp was in: for people.
[[nodiscard]] output::Table cache_time_stages_met(const experiment::CacheResult& result);
[[nodiscard]] output::Table cache_time_states(const experiment::CacheResult& result);
/// Stages by state, stacked.
[[nodiscard]] pictures::BarPlot cache_time_chart(const experiment::CacheResult& result);
[[nodiscard]] nlohmann::ordered_json cache_time_json(const experiment::CacheResult& result);

}  // namespace rayreplay::report
