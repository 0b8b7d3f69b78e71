#include "app/report/packings/whatif_table.hpp"

#include <algorithm>
#include <string>

#include "app/report/models/path_cells.hpp"
#include "app/report/models/stage_key.hpp"

namespace rayreplay::report {
namespace {

using output::Cell;
using output::Column;
using output::Show;

/// All rows have the same calls, so the first row tells whether any call has a path.
bool has_paths(const experiment::WhatIfResult& result) {
  return !result.rows.front().paths.empty();
}

/// Columns of all calls, then of each stage.
void add_paths(const experiment::WhatIfResult& result, output::Table& table) {
  std::vector<profile::PathTally> all;
  for (const experiment::WhatIfRow& row : result.rows) {
    all.push_back(row.paths.all());
  }
  const std::vector<Column> columns = path_columns(all);
  table.columns.insert(table.columns.end(), columns.begin(), columns.end());
  for_each_stage([&](trace::EventKind kind, std::size_t) {
    for (Column column : columns) {
      column.key = stage_key(kind) + "_" + column.key;
      column.detail = true;
      table.columns.push_back(std::move(column));
    }
  });
  for (std::size_t i = 0; i < result.rows.size(); ++i) {
    const auto add = [&](const profile::PathTally& tally) {
      for (Cell& cell : path_cells(tally, result.configuration.warp_size)) {
        table.rows[i].push_back(std::move(cell));
      }
    };
    add(all[i]);
    for_each_stage([&](trace::EventKind kind, std::size_t) { add(result.rows[i].paths.of_kind(kind)); });
  }
}

}  // namespace

output::Table whatif_table(const experiment::WhatIfResult& result, bool with_bound) {
  const bool weighted = !result.configuration.costs.empty();
  const std::uint32_t warp_size = result.configuration.warp_size;
  output::Table table;
  table.columns = {{"packing", "packing"},
                   {"efficiency", "SIMT efficiency", Show::Percent},
                   {"change", "change", Show::Change},
                   {"warp_events", "warp events"},
                   {"active_lanes", "active lanes", Show::Plain, 0, true},
                   {"weighted_efficiency", "weighted", Show::Percent, 2, !weighted},
                   {"weighted_change", "change", Show::Change, 2, !weighted}};
  for_each_stage([&](trace::EventKind kind, std::size_t) {
    const std::string key = stage_key(kind);
    table.columns.push_back({key + "_warp_events", "", Show::Plain, 0, true});
    table.columns.push_back({key + "_active_lanes", "", Show::Plain, 0, true});
    table.columns.push_back({key + "_efficiency", "", Show::Percent, 2, true});
  });
  for (const experiment::WhatIfRow& row : result.rows) {
    std::vector<Cell> cells = {row.packing,
                               row.efficiency,
                               row.change,
                               row.replay.total.warp_events,
                               row.replay.total.active_lanes,
                               row.weighted_efficiency,
                               row.weighted_change};
    for_each_stage([&](trace::EventKind, std::size_t i) {
      const simt::Tally& tally = row.replay.by_kind[i];
      cells.emplace_back(tally.warp_events);
      cells.emplace_back(tally.active_lanes);
      Cell& efficiency = cells.emplace_back();
      if (tally.warp_events > 0) {
        efficiency.emplace<double>(tally.efficiency(warp_size));
      }
    });
    table.rows.push_back(std::move(cells));
  }
  if (has_paths(result)) {
    add_paths(result, table);
  }
  if (with_bound) {
    const double base = result.rows.front().efficiency;
    const double weighted_base = result.rows.front().weighted_efficiency;
    std::vector<Cell> cells = {std::string("bound"),
                               result.bound.efficiency,
                               base > 0 ? result.bound.efficiency / base - 1 : 0.0,
                               result.bound.warp_events,
                               result.bound.calls,
                               result.weighted_bound,
                               weighted_base > 0 ? result.weighted_bound / weighted_base - 1 : 0.0};
    cells.resize(table.columns.size());
    table.rows.push_back(std::move(cells));
  }
  return table;
}

}  // namespace rayreplay::report
