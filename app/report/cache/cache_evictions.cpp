#include "app/report/cache/cache_evictions.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "app/report/cache/cache_table.hpp"
#include "base/count_text.hpp"

namespace rayreplay::report {
namespace {

using experiment::CacheResult;
using memory::EvictionMatrix;
using memory::kDataKinds;
using memory::kMissReasons;
using output::Cell;
using output::Show;

constexpr std::size_t kMostTicks = 6;

std::uint64_t misses_of(const EvictionMatrix& matrix, std::size_t kind) {
  return std::accumulate(matrix[kind].begin(), matrix[kind].end(), std::uint64_t{0});
}

std::uint64_t all_misses(const EvictionMatrix& matrix) {
  std::uint64_t all = 0;
  for (std::size_t kind = 0; kind < kDataKinds; ++kind) {
    all += misses_of(matrix, kind);
  }
  return all;
}

/// Kinds that missed, and reasons that occur at any level.
std::vector<std::size_t> kinds_of(const EvictionMatrix& matrix) {
  std::vector<std::size_t> kinds;
  for (std::size_t kind = 0; kind < kDataKinds; ++kind) {
    if (misses_of(matrix, kind) > 0) {
      kinds.push_back(kind);
    }
  }
  return kinds;
}

std::vector<std::size_t> reasons_of(const std::vector<const EvictionMatrix*>& matrices) {
  std::vector<std::size_t> reasons;
  for (std::size_t reason = 0; reason < kMissReasons; ++reason) {
    const bool occurs = std::ranges::any_of(matrices, [reason](const EvictionMatrix* matrix) {
      return std::ranges::any_of(*matrix, [reason](const auto& row) { return row[reason] > 0; });
    });
    if (occurs) {
      reasons.push_back(reason);
    }
  }
  return reasons;
}

std::string reason_title(std::size_t reason) {
  return reason == memory::kSectorsMissing ? "sectors missing"
         : reason == memory::kNeverKept    ? "never kept"
                                           : fmt::format("by {}", memory::miss_reason_name(reason));
}

double miss_share(std::uint64_t part, std::uint64_t all) {
  return all == 0 ? 0 : static_cast<double>(part) / static_cast<double>(all);
}

}  // namespace

output::Table eviction_rows(const CacheResult& result) {
  output::Table table;
  table.columns = {{"level", "level"},
                   {"kind", "data"},
                   {"reason", "reason"},
                   {"misses", "misses"},
                   {"share", "share", Show::Percent, 2}};
  for (std::size_t level = 0; level < memory::kLevels && result.options.evictions; ++level) {
    const EvictionMatrix& matrix = result.analysis.levels[level].evictions;
    const std::uint64_t all = all_misses(matrix);
    for (std::size_t kind = 0; kind < kDataKinds; ++kind) {
      for (std::size_t reason = 0; reason < kMissReasons; ++reason) {
        const std::uint64_t misses = matrix[kind][reason];
        if (misses > 0) {
          table.rows.push_back({std::string(kLevelNames[level]), std::string(memory::kDataKindNames[kind]),
                                std::string(memory::miss_reason_name(reason)), misses, miss_share(misses, all)});
        }
      }
    }
  }
  return table;
}

output::Table eviction_table(const CacheResult& result) {
  output::Table table;
  if (!result.options.evictions) {
    return table;
  }
  table.columns = {{"level", "level"}, {"kind", "missed"}, {"misses", "misses"}};
  std::vector<const EvictionMatrix*> matrices;
  for (const memory::LevelResult& level : result.analysis.levels) {
    matrices.push_back(&level.evictions);
  }
  const std::vector<std::size_t> reasons = reasons_of(matrices);
  for (const std::size_t reason : reasons) {
    table.columns.push_back({std::string(memory::miss_reason_name(reason)), reason_title(reason), Show::Percent, 2});
  }
  for (std::size_t level = 0; level < memory::kLevels; ++level) {
    const EvictionMatrix& matrix = *matrices[level];
    const std::uint64_t all = all_misses(matrix);
    const auto add = [&](std::string name, const auto& counts, std::uint64_t misses) {
      std::vector<Cell> row = {std::string(kLevelNames[level]), std::move(name), misses};
      for (const std::size_t reason : reasons) {
        row.emplace_back(miss_share(counts[reason], all));
      }
      table.rows.push_back(std::move(row));
    };
    std::array<std::uint64_t, kMissReasons> whole{};
    for (const std::size_t kind : kinds_of(matrix)) {
      add(std::string(memory::kDataKindNames[kind]), matrix[kind], misses_of(matrix, kind));
      std::ranges::transform(whole, matrix[kind], whole.begin(), std::plus<>());
    }
    if (has_level(result, level)) {
      add("all", whole, all);
    }
  }
  return table;
}

std::vector<pictures::Chart> eviction_charts(const CacheResult& result) {
  std::vector<pictures::Chart> charts;
  for (std::size_t level = 0; level < memory::kLevels && result.options.evictions; ++level) {
    const EvictionMatrix& matrix = result.analysis.levels[level].evictions;
    const std::uint64_t all = all_misses(matrix);
    if (all == 0) {
      continue;
    }
    std::vector<std::size_t> kinds = kinds_of(matrix);
    const std::vector<std::size_t> reasons = reasons_of({&matrix});
    std::ranges::reverse(kinds);  // the first kind is the top row
    pictures::GridPlot plot;
    plot.title = fmt::format("{}: misses by the kind of data that evicted the line", kLevelNames[level]);
    plot.note = fmt::format("{} that are no first accesses, in percent.", counted(all, "miss", "misses"));
    plot.x_title = "reason of the miss: the kind of data whose access evicted the line, or another";
    plot.y_title = "kind of data that missed";
    plot.x_names = true;
    plot.unit = "of the level's misses (%)";
    for (const std::size_t reason : reasons) {
      plot.x_labels.push_back(reason_title(reason));
    }
    double highest = 0;
    for (const std::size_t kind : kinds) {
      plot.y_labels.emplace_back(memory::kDataKindNames[kind]);
      for (const std::size_t reason : reasons) {
        const double value = 100 * miss_share(matrix[kind][reason], all);
        highest = std::max(highest, value);
        plot.values.push_back(value);
        plot.writing.push_back(fmt::format("{:.1f}", value));
        plot.exact.push_back(fmt::format("{} ({:.3f} %)", with_separators(matrix[kind][reason]), value));
      }
    }
    plot.high = pictures::rounded_up(highest);
    plot.ticks = pictures::value_ticks(false, plot.low, plot.high, kMostTicks);
    charts.emplace_back(std::move(plot));
  }
  return charts;
}

}  // namespace rayreplay::report
