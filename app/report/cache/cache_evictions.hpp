// Misses by the kind of data that evicted the line: tables and heat maps (`rayreplay cache --evictions`).
//
// Contract: misses that are no first accesses, by the kind of data of the access that missed and by the reason
// (sim/memory/results/evictions.hpp), summed over a level's caches. Empty tables and no maps unless wanted. Keys:
// docs/surfaces.md.
#pragma once

#include <vector>

#include "app/report/charts/plot.hpp"
#include "app/report/export/table.hpp"
#include "sim/caching/cache.hpp"

namespace rayreplay::report {

/// One row for each pair with a miss: level, kind, reason, misses, and their share of the level's.
[[nodiscard]] output::Table eviction_rows(const experiment::CacheResult& result);
/// The matrix for people: a row for each kind of a level, a column for each reason, in percent of the level's misses.
[[nodiscard]] output::Table eviction_table(const experiment::CacheResult& result);
/// One heat map a level.
[[nodiscard]] std::vector<pictures::Chart> eviction_charts(const experiment::CacheResult& result);

}  // namespace rayreplay::report
