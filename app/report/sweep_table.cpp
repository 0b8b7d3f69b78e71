#include "app/report/sweep_table.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "base/error.hpp"

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

/// As many as tell values of this size apart.
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

/// In the order of `runs`.
ResultSet rows_of(const ResultsReader& reader, const std::vector<std::uint64_t>& runs) {
  std::vector<std::string> names = default_columns(reader);
  std::erase(names, "status");  // they all are finished
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

output::Cell optional_cell(const std::optional<double>& value) {
  return value ? output::Cell(*value) : output::Cell();
}

const char* design_name(sweep::Design design) {
  switch (design) {
    case sweep::Design::FullGrid:
      return "grid";
    case sweep::Design::Incomplete:
      return "incomplete grid";
    case sweep::Design::Sample:
      return "sample";
  }
  return "";
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
        for (char& c : *text) {
          c = static_cast<unsigned char>(c) < 0x20 || c == 0x7F ? ' ' : c;
        }
      }
    }
  }
  return table;
}

std::string to_jsonl(const output::Table& table) {
  std::string text;
  for (const auto& row : output::to_json(table)) {
    text += row.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
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
  return json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
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
  return rows_of(reader, pick(finished_runs(reader, where), sweep::best_of(values, metric.goal, most)));
}

std::vector<std::size_t> front_of(const ResultsReader& reader, const std::vector<MetricGoal>& metrics,
                                  const std::string& where) {
  std::vector<std::vector<double>> values;
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
  ResultSet rows = rows_of(reader, pick(finished_runs(reader, where), front_of(reader, metrics, where)));
  // Along the first goal, as one reads a front.
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

std::vector<MetricSensitivity> sensitivities(const ResultsReader& reader, std::vector<std::string> metrics,
                                             const std::string& where) {
  const bool all = metrics.empty();
  if (all) {
    for (const ResultColumn& column : reader.metrics()) {
      metrics.push_back(column.name);
    }
  }
  const sweep::Dataset data = sweep::load_parameters(reader, where);
  std::vector<MetricSensitivity> result;
  for (const std::string& metric : metrics) {
    const std::vector<double> values = sweep::load_numbers(reader, metric, where, "sensitivity");
    MetricSensitivity one{reader.column(metric, "sensitivity").name,
                          sweep::sensitivity(data.parameters, values, data.sampled)};
    if (!all || one.result.variance > 0) {
      result.push_back(std::move(one));
    }
  }
  return result;
}

output::Table sensitivity_table(const std::vector<MetricSensitivity>& all) {
  output::Table table;
  table.columns = {{"metric", "metric"},
                   {"parameter", "parameter"},
                   {"first", "by itself", output::Show::Percent, 1},
                   {"total", "with interactions", output::Show::Percent, 1},
                   {"noise", "noise", output::Show::Percent, 1},
                   {"design", "design"},
                   {"rows", "rows", output::Show::Plain, 0, true}};
  for (const MetricSensitivity& one : all) {
    std::vector<std::size_t> order(one.result.parameters.size());
    for (std::size_t i = 0; i < order.size(); ++i) {
      order[i] = i;
    }
    const auto weight = [&](std::size_t i) {
      const sweep::ParameterIndex& index = one.result.parameters[i];
      return index.total.value_or(index.first.value_or(-1));
    };
    std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return weight(a) > weight(b); });
    for (const std::size_t i : order) {
      const sweep::ParameterIndex& index = one.result.parameters[i];
      table.rows.push_back({one.metric, index.name, optional_cell(index.first), optional_cell(index.total),
                            index.first ? output::Cell(index.noise) : output::Cell(),
                            std::string(design_name(one.result.design)), one.result.rows});
    }
  }
  return table;
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
