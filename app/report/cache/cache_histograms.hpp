// Reuse distances of parts of a stream: tables, JSON and charts (`rayreplay cache --histograms`).
//
// Contract: parts are those of the analysis (sim/memory/results/analysis.hpp), and launches run one after the other
// with empty caches. For each level, the parts of a division (`by`) sum to its row "all": the level's own histogram, or
// for launches the sum of theirs. Histograms by element are in the file of elements (cache_file.hpp). Keys:
// docs/surfaces.md.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "app/report/charts/plot.hpp"
#include "app/report/export/table.hpp"
#include "sim/caching/cache.hpp"

namespace rayreplay::report {

/// A launch's reuse distances by level.
struct LaunchDistances {
  std::uint32_t launch = 0;
  std::array<memory::ReuseHistogram, memory::kLevels> levels;
};

struct HistogramPart {
  std::size_t level = 0;
  std::string by;    ///< "kind", "window", "launch"
  std::string part;  ///< name of a kind, number of a window or launch; "all": the whole
  memory::ReuseHistogram histogram;
};

/// Parts without an access are left out, but for wholes. Empty unless wanted.
[[nodiscard]] std::vector<HistogramPart> histogram_parts(const experiment::CacheResult& result,
                                                         const std::vector<LaunchDistances>& launches);

/// One row a part: accesses, first touches, the distances that half and nine tenths of the repeated accesses do not
/// exceed, and the share of accesses that a fully associative LRU cache of the level's lines hits.
[[nodiscard]] output::Table histogram_table(const experiment::CacheResult& result,
                                            const std::vector<HistogramPart>& parts);
/// One row a bin that has accesses; first touches and accesses that were not sampled have rows of their own.
[[nodiscard]] output::Table histogram_bins(const std::vector<HistogramPart>& parts);
[[nodiscard]] nlohmann::ordered_json bins_json(const memory::ReuseHistogram& histogram);
[[nodiscard]] nlohmann::ordered_json histograms_json(const experiment::CacheResult& result,
                                                     const std::vector<HistogramPart>& parts);

/// Points of a chart: counts by half octaves of distance + 1, in percent of `of` accesses, at each bin's middle.
[[nodiscard]] std::vector<pictures::PlotPoint> half_octaves(const memory::ReuseHistogram& histogram, std::uint64_t of);
/// A chart for each level and division, in shares of the part's accesses. At most eight parts each: those with most
/// accesses; of windows, evenly spaced ones.
[[nodiscard]] std::vector<pictures::Chart> histogram_charts(const std::vector<HistogramPart>& parts);

}  // namespace rayreplay::report
