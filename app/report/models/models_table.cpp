#include "app/report/models/models_table.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/report/models/path_cells.hpp"
#include "app/report/models/stage_key.hpp"
#include "base/parameters.hpp"

namespace rayreplay::report {
namespace {

using experiment::BreakEvenKind;
using experiment::CompareResult;
using experiment::CompareRow;
using output::Cell;
using output::Show;

constexpr std::size_t kShownBounces = 6;
constexpr std::size_t kLimits = 3;

const char* grouping_name(scheduler::Grouping grouping) {
  constexpr std::array kNames = {"static", "timed", "bound"};
  return kNames.at(static_cast<std::size_t>(grouping));
}

Cell efficiency_cell(const simt::Tally& tally, std::uint32_t warp_size) {
  return tally.warp_events > 0 ? Cell(tally.efficiency(warp_size)) : Cell();
}

simt::Tally sum(const std::array<simt::Tally, trace::kEventKinds>& by_kind) {
  simt::Tally total;
  for (const simt::Tally& tally : by_kind) {
    total += tally;
  }
  return total;
}

void add_break_even(const CompareResult& result, const CompareRow& row, std::vector<Cell>& cells) {
  const experiment::BreakEven& found = row.break_even;
  cells.emplace_back(std::string(to_string(found.kind)));
  for (const double value :
       {found.instructions, found.hit_cost, found.within, result.mean_hit_cost + found.from.instructions,
        result.mean_hit_cost + found.to.instructions, found.from.speed_up, found.to.speed_up}) {
    cells.push_back(found.solved() ? Cell(value) : Cell());
  }
  cells.push_back(found.sampled ? Cell(found.scatter) : Cell());
  const bool waits = row.grouping != scheduler::Grouping::Bound;
  const bool asked = found.kind != BreakEvenKind::NotAsked;
  cells.push_back(asked && waits ? Cell(row.break_even_busy_share) : Cell());
  cells.push_back(asked ? Cell(row.break_even_plain_busy_share) : Cell());
  cells.push_back(waits ? Cell(too_few_warps(result, row)) : Cell());
}

std::vector<output::Column> columns() {
  std::vector<output::Column> list = {
      {"model", "model"},
      {"grouping", "", Show::Plain, 0, true},
      {"efficiency", "SIMT efficiency", Show::Percent},
      {"change", "change", Show::Change},
      {"mean_active_lanes", "active lanes", Show::Plain, 2},
      {"warp_events", "", Show::Plain, 0, true},
      {"active_lanes", "", Show::Plain, 0, true},
      {"weighted_efficiency", "", Show::Percent, 2, true},
      {"milliseconds", "time (ms)", Show::Plain, 3},
      {"cycles", "", Show::Plain, 0, true},
      {"speed_up", "speed-up", Show::Plain, 3},
      {"traversal", "traversal", Show::Percent, 1},
      {"shading", "shading", Show::Percent, 1},
      {"reorder", "reorder", Show::Percent, 1},
      {"idle", "idle", Show::Percent, 1},
      {"withheld", "withheld", Show::Percent, 1},
      {"tail", "tail", Show::Percent, 1},
      {"tail_cycles", "", Show::Plain, 0, true},
      {"busy_share", "", Show::Percent, 1, true},
      {"limited_issue", "", Show::Percent, 1, true},
      {"limited_visits", "", Show::Percent, 1, true},
      {"limited_bytes", "", Show::Percent, 1, true},
      {"traffic_bytes", "", Show::Plain, 0, true},
      {"moved", "moved threads"},
      {"state_bytes", "", Show::Plain, 0, true},
      {"state", "state"},
      {"segments", "", Show::Plain, 0, true},
      {"warps", "", Show::Plain, 0, true},
      {"rounds", "", Show::Plain, 0, true},
      {"break_even", "", Show::Plain, 0, true},
      {"break_even_instructions", "", Show::Plain, 0, true},
      {"break_even_hit_cost", "", Show::Plain, 0, true},
      {"break_even_within", "", Show::Plain, 0, true},
      {"break_even_from", "", Show::Plain, 0, true},
      {"break_even_to", "", Show::Plain, 0, true},
      {"break_even_from_speed_up", "", Show::Plain, 0, true},
      {"break_even_to_speed_up", "", Show::Plain, 0, true},
      {"break_even_scatter", "", Show::Plain, 0, true},
      {"break_even_busy_share", "", Show::Plain, 0, true},
      {"break_even_plain_busy_share", "", Show::Plain, 0, true},
      {"too_few_warps", "", Show::Plain, 0, true},
      {"charge_cycles_per_warp", "", Show::Plain, 0, true},
      {"charge_cycles_per_cut", "", Show::Plain, 0, true},
      {"charge_bytes_per_moved", "", Show::Plain, 0, true},
      {"charge_bytes_per_thread", "", Show::Plain, 0, true},
      {"charge_bytes_per_cycle", "", Show::Plain, 0, true},
      {"charge_withheld_sms", "", Show::Plain, 0, true},
  };
  for_each_stage([&list](trace::EventKind kind, std::size_t) {
    const std::string key = stage_key(kind);
    list.push_back({key + "_warp_events", "", Show::Plain, 0, true});
    list.push_back({key + "_active_lanes", "", Show::Plain, 0, true});
    list.push_back({key + "_efficiency", "", Show::Percent, 2, true});
  });
  return list;
}

std::vector<Cell> cells_of(const CompareResult& result, const CompareRow& row) {
  const std::uint32_t warp_size = result.configuration.warp_size;
  const simt::ReplayResult& replay = row.replay.replay;
  const machine::Timing& timing = row.timing;
  const double all = timing.cycles * result.machine.sms;
  const auto share = [all](double part) { return all > 0 ? part / all : 0.0; };
  const bool scheduled = row.grouping != scheduler::Grouping::Bound;
  const auto of_schedule = [scheduled](Cell cell) { return scheduled ? std::move(cell) : Cell(); };
  const bool weighted = !result.configuration.costs.empty();
  std::vector<Cell> cells = {
      row.model,
      std::string(grouping_name(row.grouping)),
      row.efficiency,
      row.change,
      row.efficiency * warp_size,
      replay.total.warp_events,
      replay.total.active_lanes,
      weighted ? replay.total.weighted_efficiency(warp_size) : row.efficiency,
      timing.milliseconds,
      timing.cycles,
      row.speed_up,
      of_schedule(share(timing.split.traversal)),
      of_schedule(share(timing.split.shading)),
      of_schedule(share(timing.split.reorder)),
      of_schedule(share(timing.split.idle)),
      of_schedule(share(timing.split.withheld)),
      of_schedule(timing.cycles > 0 ? timing.tail_cycles / timing.cycles : 0.0),
      of_schedule(timing.tail_cycles),
      of_schedule(timing.busy_share),
  };
  static_assert(std::tuple_size_v<decltype(timing.limited)> == kLimits);
  for (const double limited : timing.limited) {
    cells.push_back(of_schedule(limited));
  }
  const std::vector<Cell> rest = {
      of_schedule(timing.traffic_bytes),
      of_schedule(row.moved),
      of_schedule(row.state_bytes),
      of_schedule(row.state_bytes > 0 ? output::bytes_text(row.state_bytes) : std::string("-")),
      row.segments,
      of_schedule(row.warps),
      row.rounds > 0 ? Cell(row.rounds) : Cell(),
  };
  cells.insert(cells.end(), rest.begin(), rest.end());
  add_break_even(result, row, cells);
  for (const double charge : {row.charges.cycles_per_warp, row.charges.cycles_per_cut, row.charges.bytes_per_moved,
                              row.charges.bytes_per_thread, row.charges.bytes_per_cycle}) {
    cells.emplace_back(charge);
  }
  cells.emplace_back(std::uint64_t{row.charges.withheld_sms});
  for_each_stage([&](trace::EventKind, std::size_t i) {
    const simt::Tally& tally = replay.by_kind[i];
    cells.emplace_back(tally.warp_events);
    cells.emplace_back(tally.active_lanes);
    cells.push_back(efficiency_cell(tally, warp_size));
  });
  return cells;
}

const machine::CallCost& cost_of(const CompareResult& result, const simt::CallTally& call) {
  return result.costs.calls[std::size_t{call.shader} * trace::kEventKinds + static_cast<std::size_t>(call.kind)];
}

std::vector<output::Column> model_columns(const CompareResult& result, const std::string& first) {
  std::vector<output::Column> list = {{first, first}};
  for (const CompareRow& row : result.rows) {
    list.push_back({row.model, short_spec(row.model), Show::Percent});
  }
  return list;
}

}  // namespace

std::string short_spec(const std::string& resolved) {
  const ModelSpec spec = parse_spec(resolved);
  const std::vector<Parameter>& declared = scheduler::SchedulerModels::describe(spec.name).parameters;
  std::string text = spec.name;
  for (const auto& [key, value] : spec.settings) {
    const auto place =
        std::find_if(declared.begin(), declared.end(), [&](const Parameter& other) { return other.name == key; });
    if (place == declared.end() || to_text(place->default_value) != value) {
      text += (text == spec.name ? ":" : ",") + key + "=" + value;
    }
  }
  return text;
}

namespace {

/// Columns by path: of all calls behind the column `change`, of each stage at the end. Bounds have no warps, so their
/// cells are empty.
void add_paths(const CompareResult& result, output::Table& table) {
  constexpr std::ptrdiff_t kBehindChange = 4;
  std::vector<profile::PathTally> all;
  for (const CompareRow& row : result.rows) {
    all.push_back(row.paths.all());
  }
  const std::vector<output::Column> columns = path_columns(all);
  table.columns.insert(table.columns.begin() + kBehindChange, columns.begin(), columns.end());
  for_each_stage([&](trace::EventKind kind, std::size_t) {
    for (output::Column column : columns) {
      column.key = stage_key(kind) + "_" + column.key;
      column.detail = true;
      table.columns.push_back(std::move(column));
    }
  });
  for (std::size_t i = 0; i < result.rows.size(); ++i) {
    std::vector<Cell>& cells = table.rows[i];
    const std::vector<Cell> of_all = path_cells(all[i], result.configuration.warp_size);
    cells.insert(cells.begin() + kBehindChange, of_all.begin(), of_all.end());
    for_each_stage([&](trace::EventKind kind, std::size_t) {
      const std::vector<Cell> of_kind = path_cells(result.rows[i].paths.of_kind(kind), result.configuration.warp_size);
      cells.insert(cells.end(), of_kind.begin(), of_kind.end());
    });
  }
}

}  // namespace

output::Table models_table(const CompareResult& result) {
  output::Table table;
  table.columns = columns();
  for (const CompareRow& row : result.rows) {
    table.rows.push_back(cells_of(result, row));
  }
  if (!result.rows.front().paths.empty()) {
    add_paths(result, table);
  }
  return table;
}

output::Table short_models_table(const CompareResult& result) {
  output::Table table = models_table(result);
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    table.rows[i].front() = short_spec(result.rows[i].model);
  }
  return table;
}

output::Table stage_rows(const CompareResult& result) {
  const std::uint32_t warp_size = result.configuration.warp_size;
  output::Table table;
  table.columns = {{"model", ""},       {"bounce", ""},       {"stage", ""},
                   {"warp_events", ""}, {"active_lanes", ""}, {"efficiency", ""}};
  for (const CompareRow& row : result.rows) {
    const auto add = [&](const Cell& bounce, const std::array<simt::Tally, trace::kEventKinds>& by_kind) {
      for_each_stage([&](trace::EventKind kind, std::size_t i) {
        if (by_kind[i].warp_events > 0) {
          table.rows.push_back({row.model, bounce, stage_key(kind), by_kind[i].warp_events, by_kind[i].active_lanes,
                                efficiency_cell(by_kind[i], warp_size)});
        }
      });
    };
    add(Cell(), row.replay.replay.by_kind);
    for (std::size_t bounce = 0; bounce < row.replay.by_bounce.size(); ++bounce) {
      add(std::uint64_t{bounce}, row.replay.by_bounce[bounce]);
    }
  }
  return table;
}

output::Table lane_rows(const CompareResult& result) {
  output::Table table;
  table.columns = {{"model", ""}, {"lanes", ""}, {"warp_events", ""}};
  for (const CompareRow& row : result.rows) {
    for (std::size_t lanes = 1; lanes <= result.configuration.warp_size; ++lanes) {
      if (row.grouping != scheduler::Grouping::Bound) {
        table.rows.push_back({row.model, std::uint64_t{lanes}, row.replay.active_lanes[lanes]});
      }
    }
  }
  return table;
}

output::Table response_rows(const CompareResult& result) {
  output::Table table;
  table.columns = {{"model", ""}, {"hit_instructions", ""}, {"live_bytes", ""}, {"speed_up", ""}};
  for (const CompareRow& row : result.rows) {
    for (const experiment::ResponsePoint& point : row.response) {
      table.rows.push_back({row.model, point.hit_instructions,
                            std::isnan(point.live_bytes) ? Cell() : Cell(point.live_bytes), point.speed_up});
    }
  }
  return table;
}

output::Table cost_rows(const CompareResult& result, const trace::Trace& trace) {
  output::Table table;
  table.columns = {{"shader", ""},
                   {"name", "shader"},
                   {"stage", "stage"},
                   {"call", "call"},
                   {"calls", "calls"},
                   {"issue", "instructions", Show::Plain, 1},
                   {"latency", "latency (cycles)", Show::Plain, 1},
                   {"source", "source"},
                   {"latency_source", "source of the latency"}};
  table.columns.front().detail = true;
  for (const simt::CallTally& call : result.rows.front().replay.replay.by_call) {
    const trace::Shader& shader = trace.shaders[call.shader];
    const machine::CallCost& cost = cost_of(result, call);
    table.rows.push_back({std::uint64_t{call.shader}, shader.name, std::string(to_string(shader.stage)),
                          stage_key(call.kind), call.tally.active_lanes, cost.issue, cost.latency, cost.origin,
                          cost.own_latency() ? Cell(cost.latency_origin) : Cell()});
  }
  return table;
}

namespace {

/// "paths"; "paths, 2 times" with a factor by hand.
std::string source_text(const machine::CallCost& cost) {
  return cost.times == 1 ? cost.origin : fmt::format("{}, {} times", cost.origin, cost.times);
}

}  // namespace

output::Table shown_costs(const CompareResult& result, const trace::Trace& trace) {
  output::Table table = cost_rows(result, trace);
  table.columns.back() = {"origin", "origin"};
  const auto both = [](const std::string& issue, const std::string& latency) {
    return latency.empty() || latency == issue ? issue : fmt::format("{}, latency {}", issue, latency);
  };
  const auto word = [](const std::string& source) {
    return std::string(source.empty() ? "" : to_string(machine::origin_of_source(source)));
  };
  const std::vector<simt::CallTally>& calls = result.rows.front().replay.replay.by_call;
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    const machine::CallCost& cost = cost_of(result, calls[i]);
    *(table.rows[i].end() - 2) = both(source_text(cost), cost.latency_origin);
    table.rows[i].back() = both(word(cost.origin), word(cost.latency_origin));
  }
  return table;
}

std::string hit_cost_text(const CompareResult& result) {
  std::set<std::string> sources;
  for (const simt::CallTally& call : result.rows.front().replay.replay.by_call) {
    if (call.kind == trace::EventKind::ClosestHit) {
      sources.insert(source_text(cost_of(result, call)));
    }
  }
  return fmt::format(
      "a closest-hit call takes {:.1f} instructions on average{}", result.mean_hit_cost,
      sources.empty() ? "" : fmt::format(" (source{}: {})", sources.size() == 1 ? "" : "s", fmt::join(sources, ", ")));
}

output::Table efficiency_by_stage(const CompareResult& result) {
  output::Table table;
  table.columns = model_columns(result, "stage");
  for_each_stage([&](trace::EventKind kind, std::size_t i) {
    if (result.rows.front().replay.replay.by_kind[i].warp_events == 0) {
      return;
    }
    std::vector<Cell> cells = {stage_key(kind)};
    for (const CompareRow& row : result.rows) {
      cells.push_back(efficiency_cell(row.replay.replay.by_kind[i], result.configuration.warp_size));
    }
    table.rows.push_back(std::move(cells));
    std::vector<Cell> by_path = {stage_key(kind) + ", by path"};
    for (const CompareRow& row : result.rows) {
      by_path.push_back(path_cells(row.paths.of_kind(kind), result.configuration.warp_size).front());
    }
    if (std::ranges::any_of(by_path, [](const Cell& cell) { return std::holds_alternative<double>(cell); })) {
      table.rows.push_back(std::move(by_path));
    }
  });
  return table;
}

output::Table efficiency_by_bounce(const CompareResult& result) {
  output::Table table;
  table.columns = model_columns(result, "bounce");
  const std::size_t bounces = result.rows.front().replay.by_bounce.size();
  for (std::size_t first = 0; first < bounces; ++first) {
    // The last row sums up the remaining bounces.
    const std::size_t last = first == kShownBounces ? bounces - 1 : first;
    std::vector<Cell> cells = {last > first ? fmt::format("{} to {}", first, last) : fmt::format("{}", first)};
    for (const CompareRow& row : result.rows) {
      simt::Tally tally;
      for (std::size_t i = first; i <= last && i < row.replay.by_bounce.size(); ++i) {
        tally += sum(row.replay.by_bounce[i]);
      }
      cells.push_back(efficiency_cell(tally, result.configuration.warp_size));
    }
    table.rows.push_back(std::move(cells));
    first = last;
  }
  return table;
}

}  // namespace rayreplay::report
