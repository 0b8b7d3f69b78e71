#include "sim/sweep/results/columns.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "sim/settings/parameter_table.hpp"

namespace rayreplay::sweep {
namespace {

// In the order of the enumerations.
constexpr std::array kRoles = {"axis", "metric", "key", "about"};
constexpr std::array kTypes = {"truth", "whole", "real", "text", "any"};
constexpr std::array kGoals = {"less", "more", ""};
constexpr std::array kSqlTypes = {" INTEGER", " INTEGER", " REAL", " TEXT", ""};  // by ColumnType

template <class Value, std::size_t N>
bool find(const std::array<const char*, N>& names, std::string_view name, Value& value) {
  const auto found = std::ranges::find(names, name);
  if (found != names.end()) {
    value = static_cast<Value>(found - names.begin());
  }
  return found != names.end();
}

ResultColumn about(const char* name, ColumnType type, const char* unit, const char* text) {
  return {name, Role::About, type, unit, text, experiment::Goal::None};
}

}  // namespace

const char* to_string(Role role) {
  return kRoles.at(static_cast<std::size_t>(role));
}
const char* to_string(ColumnType type) {
  return kTypes.at(static_cast<std::size_t>(type));
}
const char* to_string(experiment::Goal goal) {
  return kGoals.at(static_cast<std::size_t>(goal));
}
bool from_string(std::string_view name, Role& role) {
  return find(kRoles, name, role);
}
bool from_string(std::string_view name, ColumnType& type) {
  return find(kTypes, name, type);
}
bool from_string(std::string_view name, experiment::Goal& goal) {
  return find(kGoals, name, goal);
}

std::string folded(std::string_view name) {
  std::string result(name);
  for (char& c : result) {
    c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return result;
}

std::string sql_type(ColumnType type) {
  return kSqlTypes.at(static_cast<std::size_t>(type));
}

ResultColumn key_column(const std::string& key, Role role) {
  ResultColumn column{key, role, ColumnType::Any, "", "", experiment::Goal::None};
  const auto colon = key.find(':');
  if (colon != std::string::npos) {
    column.text = "parameter " + key.substr(colon + 1) + " of " + key.substr(0, colon);
    return column;
  }
  if (const experiment::ExperimentParameter* parameter = experiment::find_parameter(key); parameter != nullptr) {
    // ColumnType begins in the order of ParameterValue.
    column.type = static_cast<ColumnType>(parameter->declared.default_value.index());
    column.unit = parameter->declared.unit;
    column.text = parameter->declared.text;
  }
  return column;
}

std::vector<ResultColumn> result_columns(const std::vector<std::string>& axes) {
  std::vector<ResultColumn> columns = {
      about("run", ColumnType::Whole, "", "number of the configuration in the sweep"),
      about("status", ColumnType::Text, "", "ok or error"),
      about("error", ColumnType::Text, "", "why there is no result"),
  };
  std::set<std::string> names = {"configuration", "trace_hash", "tool_version", "device", "host",    "started",
                                 "seconds",       "run",        "status",       "error",  "checksum"};
  const auto add = [&](ResultColumn column) {
    for (int i = 2; !names.insert(folded(column.name)).second; ++i) {
      const auto tilde = column.name.find('~');
      column.name = column.name.substr(0, tilde) + "~" + std::to_string(i);
    }
    columns.push_back(std::move(column));
  };
  std::set<std::string> keys;
  for (const std::string& axis : axes) {
    if (keys.insert(axis).second) {
      add(key_column(axis, Role::Axis));
    }
  }
  for (const experiment::Metric& metric : experiment::all_metrics()) {
    add({metric.name, Role::Metric, ColumnType::Real, metric.unit, metric.text, metric.goal});
  }
  for (const experiment::ExperimentParameter& parameter : experiment::experiment_parameters()) {
    if (keys.insert(parameter.declared.name).second) {
      add(key_column(parameter.declared.name, Role::Key));
    }
  }
  columns.push_back(about("trace_hash", ColumnType::Text, "", "hash of the trace's or workload's content"));
  columns.push_back(about("tool_version", ColumnType::Text, "", "version of rayreplay that computed the row"));
  columns.push_back(about("device", ColumnType::Text, "", "what computed the row"));
  columns.push_back(about("host", ColumnType::Text, "", "machine that computed the row"));
  columns.push_back(about("started", ColumnType::Text, "UTC", "when its computation began"));
  columns.push_back(about("seconds", ColumnType::Real, "s", "its share of the time of computation"));
  columns.push_back(about("configuration", ColumnType::Text, "TOML", "complete configuration of the row"));
  return columns;
}

}  // namespace rayreplay::sweep
