#include "app/report/sweep/sweep_table.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "base/json.hpp"

namespace rayreplay::report {
namespace {

using experiment::Goal;
using sweep::ResultCell;
using sweep::ResultColumn;
using sweep::ResultSet;
using sweep::ResultsReader;
using sweep::Role;

output::Cell to_cell(const ResultCell& cell) {
  if (const bool* truth = std::get_if<bool>(&cell)) {
    return *truth;
  }
  if (const auto* whole = std::get_if<std::int64_t>(&cell)) {
    return *whole >= 0 ? output::Cell(static_cast<std::uint64_t>(*whole)) : output::Cell(static_cast<double>(*whole));
  }
  if (const auto* real = std::get_if<double>(&cell)) {
    return *real;
  }
  const auto* text = std::get_if<std::string>(&cell);
  return text != nullptr ? output::Cell(*text) : output::Cell();
}

/// As many digits as distinguish values of this size.
int decimals_of(const ResultSet& rows, std::size_t column) {
  double greatest = 0;
  bool whole = true;
  for (const auto& row : rows.rows) {
    const double value = sweep::number(row[column]);
    if (std::isfinite(value)) {
      greatest = std::max(greatest, std::abs(value));
      whole &= value == std::floor(value);
    }
  }
  return whole || greatest >= 1e6 ? 0 : greatest < 10 ? 4 : greatest < 1000 ? 2 : 1;
}

/// In the order of `runs`. The first name is the run.
ResultSet select_runs(const ResultsReader& reader, const std::vector<std::string>& names,
                      const std::vector<std::uint64_t>& runs) {
  ResultSet found = reader.select(names, fmt::format("run IN ({})", fmt::join(runs, ",")));
  std::map<std::uint64_t, std::size_t> places;
  for (std::size_t i = 0; i < found.rows.size(); ++i) {
    places.emplace(static_cast<std::uint64_t>(sweep::number(found.rows[i].front())), i);
  }
  ResultSet result{found.columns, {}};
  for (const std::uint64_t run : runs) {
    result.rows.push_back(std::move(found.rows[places.at(run)]));
  }
  return result;
}

/// In the order of `runs`; requested columns follow the axes.
ResultSet rows_of(const ResultsReader& reader, const std::vector<std::uint64_t>& runs,
                  const std::vector<MetricGoal>& asked) {
  std::vector<std::string> names = default_columns(reader);
  std::erase(names, "status");  // all of them are finished
  auto place = 1 + static_cast<std::ptrdiff_t>(reader.about().axes.size());
  for (const MetricGoal& metric : asked) {
    const auto found = std::ranges::find(names, metric.metric);
    if (found != names.end() && found - names.begin() < place) {
      continue;  // an axis, or a duplicate
    }
    if (found != names.end()) {
      names.erase(found);
    }
    names.insert(names.begin() + place++, metric.metric);
  }
  return select_runs(reader, names, runs);
}

std::vector<std::uint64_t> pick(const std::vector<std::uint64_t>& runs, const std::vector<std::size_t>& places) {
  std::vector<std::uint64_t> result;
  result.reserve(places.size());
  for (const std::size_t place : places) {
    result.push_back(runs.at(place));
  }
  return result;
}

std::vector<std::uint64_t> finished_runs(const ResultsReader& reader, const std::string& where) {
  const ResultSet rows = reader.select({"run"}, sweep::finished_where(where));
  std::vector<std::uint64_t> runs;
  runs.reserve(rows.rows.size());
  for (const auto& row : rows.rows) {
    runs.push_back(static_cast<std::uint64_t>(sweep::number(row.front())));
  }
  return runs;
}

}  // namespace

output::Table to_table(const ResultSet& rows) {
  output::Table table;
  for (std::size_t i = 0; i < rows.columns.size(); ++i) {
    const ResultColumn& column = rows.columns[i];
    const bool units = !column.unit.empty() && column.role != Role::About;
    table.columns.push_back({column.name, units ? column.name + " (" + column.unit + ")" : column.name,
                             output::Show::Plain, decimals_of(rows, i)});
  }
  for (const auto& row : rows.rows) {
    table.rows.emplace_back();
    for (const ResultCell& cell : row) {
      table.rows.back().push_back(to_cell(cell));
    }
  }
  return table;
}

output::Table printable(output::Table table) {
  for (auto& row : table.rows) {
    for (output::Cell& cell : row) {
      if (auto* text = std::get_if<std::string>(&cell)) {
        std::ranges::replace(*text, '\n', ' ');  // from configurations and sweep files
      }
      // Sums of bytes are stored as reals; without decimals they get separators.
      const double* real = std::get_if<double>(&cell);
      if (real != nullptr && *real >= 0 && *real <= kMaxExact &&
          table.columns[static_cast<std::size_t>(&cell - row.data())].decimals == 0) {
        cell = static_cast<std::uint64_t>(std::round(*real));
      }
    }
  }
  return table;
}

std::string to_jsonl(const output::Table& table) {
  std::string text;
  for (const auto& row : output::to_json(table)) {
    text += json_text(row) + "\n";
  }
  return text;
}

std::string results_json(const ResultsReader& reader, const ResultSet& rows) {
  nlohmann::ordered_json json;
  json["schema"] = "rayreplay.results/1";
  json["tool"] = {{"name", "rayreplay"}, {"version", RAYREPLAY_VERSION}};
  json["database"] = reader.path().string();
  json["sweep"] = {{"definition_hash", reader.about().definition_hash},
                   {"configurations", reader.about().runs},
                   {"finished", reader.count()},
                   {"failed", reader.failures()},
                   {"axes", reader.about().axes},
                   {"objective", reader.about().objective}};
  json["columns"] = nlohmann::ordered_json::array();
  for (const ResultColumn& column : rows.columns) {
    json["columns"].push_back({{"name", column.name},
                               {"role", sweep::to_string(column.role)},
                               {"unit", column.unit},
                               {"text", column.text},
                               {"goal", sweep::to_string(column.goal)}});
  }
  json["rows"] = output::to_json(to_table(rows));
  return json_text(json, 2) + "\n";
}

std::vector<std::string> default_columns(const ResultsReader& reader) {
  std::vector<std::string> names = {"run"};
  if (reader.failures() > 0) {
    names.emplace_back("status");
  }
  for (const ResultColumn& column : reader.columns()) {
    if (column.role == Role::Axis) {
      names.push_back(column.name);
    }
  }
  for (const ResultColumn& column : reader.metrics()) {
    names.push_back(column.name);
  }
  return names;
}

bool is_main_metric(const std::string& name) {
  static const std::set<std::string> names = {
      "simt_efficiency",         "model_speed_up", "model_milliseconds", "model_efficiency", "traversal_nodes_per_ray",
      "traversal_bytes_per_ray", "l1_hit_rate",    "l2_hit_rate",        "dram_bytes",       "structure_bytes",
      "structure_sah_cost"};
  return names.contains(name);
}

std::size_t mark_details(output::Table& table, const ResultSet& rows, const std::vector<std::string>& asked,
                         bool unchanging) {
  constexpr std::size_t kMax = 6;
  const auto varies = [&](std::size_t i) {
    return std::ranges::any_of(rows.rows, [&](const auto& row) { return row[i] != rows.rows.front()[i]; });
  };
  std::vector<std::size_t> main, others, hidden;
  for (std::size_t i = 0; i < rows.columns.size(); ++i) {
    const ResultColumn& column = rows.columns[i];
    if (column.role != Role::Metric || std::ranges::find(asked, column.name) != asked.end()) {
      continue;
    }
    hidden.push_back(i);
    if (unchanging || rows.rows.size() < 2 || varies(i)) {
      (is_main_metric(column.name) ? main : others).push_back(i);
    }
  }
  std::vector<std::size_t>& shown = main.empty() && asked.empty() ? others : main;
  shown.resize(std::min(shown.size(), kMax));
  std::erase_if(hidden, [&](std::size_t i) { return std::ranges::find(shown, i) != shown.end(); });
  for (const std::size_t i : hidden) {
    table.columns[i].detail = true;
  }
  return hidden.size();
}

std::vector<std::string> export_columns(const ResultsReader& reader, bool times) {
  std::vector<std::string> names;
  for (const ResultColumn& column : reader.columns()) {
    const bool varies = column.role == Role::About && (column.name == "device" || column.name == "host" ||
                                                       column.name == "started" || column.name == "seconds");
    if (times || !varies) {
      names.push_back(column.name);
    }
  }
  return names;
}

MetricGoal parse_metric(const ResultsReader& reader, const std::string& text) {
  const bool less = text.starts_with("less:"), more = text.starts_with("more:");
  const ResultColumn& column = reader.column(less || more ? text.substr(5) : text, "metric");
  return {column.name, less ? Goal::Less : more ? Goal::More : sweep::goal_of(reader, column.name)};
}

ResultSet best_rows(const ResultsReader& reader, const MetricGoal& metric, std::size_t most, const std::string& where) {
  const std::vector<double> values = sweep::load_numbers(reader, metric.metric, where, "best");
  return rows_of(reader, pick(finished_runs(reader, where), sweep::best_of(values, metric.goal, most)), {metric});
}

std::vector<std::size_t> front_of(const ResultsReader& reader, const std::vector<MetricGoal>& metrics,
                                  const std::string& where) {
  std::vector<std::vector<double>> values;
  values.reserve(metrics.size());
  std::vector<sweep::GoalColumn> columns;
  for (const MetricGoal& metric : metrics) {
    values.push_back(sweep::load_numbers(reader, metric.metric, where, "pareto"));
  }
  for (std::size_t i = 0; i < metrics.size(); ++i) {
    columns.push_back({values[i], metrics[i].goal});
  }
  return sweep::pareto_front(columns);
}

ResultSet front_rows(const ResultsReader& reader, const std::vector<MetricGoal>& metrics, const std::string& where) {
  ResultSet rows = rows_of(reader, pick(finished_runs(reader, where), front_of(reader, metrics, where)), metrics);
  // In order of the first goal.
  const auto name = [&](const ResultColumn& column) { return column.name == metrics.front().metric; };
  if (const auto column = std::ranges::find_if(rows.columns, name); column != rows.columns.end()) {
    const auto place = static_cast<std::size_t>(column - rows.columns.begin());
    const double side = metrics.front().goal == Goal::More ? -1 : 1;
    std::ranges::stable_sort(rows.rows, [&](const auto& a, const auto& b) {
      return side * sweep::number(a[place]) < side * sweep::number(b[place]);
    });
  }
  return rows;
}

ResultSet with_columns(const ResultsReader& reader, const ResultSet& rows, std::vector<std::string> names) {
  std::vector<std::uint64_t> runs;
  for (const auto& row : rows.rows) {
    runs.push_back(static_cast<std::uint64_t>(sweep::number(row.front())));
  }
  names.insert(names.begin(), "run");
  ResultSet result = select_runs(reader, names, runs);
  result.columns.erase(result.columns.begin());
  for (auto& row : result.rows) {
    row.erase(row.begin());
  }
  return result;
}

output::Table comparison_table(const sweep::RunComparison& comparison, std::uint64_t a, std::uint64_t b) {
  output::Table table;
  table.columns = {{"kind", "kind"},
                   {"name", "name"},
                   {"unit", "unit"},
                   {"a", fmt::format("run {}", a)},
                   {"b", fmt::format("run {}", b)},
                   {"difference", "difference", output::Show::Plain, 6},
                   {"ratio", "ratio", output::Show::Plain, 4}};
  const auto add = [&](const char* kind, const sweep::Difference& one) {
    const double left = sweep::number(one.a), right = sweep::number(one.b);
    const bool both = std::isfinite(left) && std::isfinite(right);
    table.rows.push_back({std::string(kind), one.column.name, one.column.unit, sweep::to_text(one.a),
                          sweep::to_text(one.b), both ? output::Cell(right - left) : output::Cell(),
                          both && left != 0 ? output::Cell(right / left) : output::Cell()});
  };
  for (const sweep::Difference& one : comparison.parameters) {
    add(one.column.role == Role::About ? "about" : "parameter", one);
  }
  for (const sweep::Difference& one : comparison.metrics) {
    add("metric", one);
  }
  return table;
}

output::Table failure_table(const ResultsReader& reader) {
  output::Table table = to_table(reader.query(
      "SELECT error, count(*) AS runs, min(run) AS first_run FROM runs WHERE status <> 'ok' GROUP BY error ORDER BY 2 "
      "DESC, 3"));
  table.columns[1].title = "configurations";
  table.columns[2].title = "first run";
  return table;
}

}  // namespace rayreplay::report
