// Memory time in the output of `rayreplay cache`: parts of the SM-cycles, and busy shares of resources.
//
// Contract: only for results with memory time (`has_time`). `cache_time_table` has a row for each part of the
// SM-cycles, which sum to 1, then one for each resource with its busy share. Keys of the JSON: docs/surfaces.md.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "app/report/export/table.hpp"
#include "sim/caching/cache.hpp"

namespace rayreplay::report {

[[nodiscard]] bool has_time(const experiment::CacheResult& result);
/// The busiest resource, and the largest parts.
[[nodiscard]] std::string cache_time_answer(const experiment::CacheResult& result);
/// All parts and resources, as a line.
[[nodiscard]] std::string cache_time_sentence(const experiment::CacheResult& result);
[[nodiscard]] output::Table cache_time_table(const experiment::CacheResult& result);
[[nodiscard]] nlohmann::ordered_json cache_time_json(const experiment::CacheResult& result);

}  // namespace rayreplay::report
