#include "sim/sweep/results/runs_table.hpp"

#include <cmath>
#include <string_view>
#include <utility>
#include <variant>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.hpp"
#include "sim/sweep/results/schema.hpp"

namespace rayreplay::sweep {
namespace {

/// Whether the same command may find it otherwise.
bool may_pass(const experiment::Failure& failure) {
  return failure.kind == ErrorKind::Resource || failure.kind == ErrorKind::Input;
}

}  // namespace

RunsTable::RunsTable(const Connection& connection, std::uint64_t runs)
    : connection_(&connection), runs_(runs), any_retry_(connection.number("SELECT count(*) FROM retry") > 0) {
  read_again();
}

bool RunsTable::add(const std::string& key, Role role) {
  return place(key, role) > 0;
}

void RunsTable::read_again() {
  columns_ = read_columns(*connection_);
  places_.clear();
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    places_.emplace(columns_[i].name, static_cast<int>(i) + 1);
    names_.insert(folded(columns_[i].name));
  }
  std::vector<std::string> names, marks;
  for (const ResultColumn& column : columns_) {
    names.push_back(sql_name(column.name));
    marks.emplace_back("?");
  }
  insert_ = connection_->prepare(
      fmt::format("INSERT OR REPLACE INTO runs ({}) VALUES ({})", fmt::join(names, ","), fmt::join(marks, ",")));
}

int RunsTable::place(const std::string& key, Role role) {
  if (const auto known = places_.find(key); known != places_.end()) {
    return known->second;
  }
  // Of an open table.
  if (columns_.size() >= kMostColumns || left_out_.contains(key)) {
    left_out_.insert(key);  // it is in `configuration` all the same
    return 0;
  }
  ResultColumn column = key_column(key, role);
  if (!names_.insert(folded(key)).second) {
    left_out_.insert(key);
    return 0;
  }
  insert_ = Statement();
  add_column(*connection_, column);
  read_again();
  return places_.at(key);
}

void RunsTable::bind(int place, const ParameterValue& value) {
  if (const bool* truth = std::get_if<bool>(&value)) {
    insert_.bind(place, std::int64_t{*truth ? 1 : 0});
  } else if (const auto* whole = std::get_if<std::int64_t>(&value)) {
    insert_.bind(place, *whole);
  } else if (const auto* real = std::get_if<double>(&value)) {
    insert_.bind(place, *real);
  } else {
    insert_.bind(place, std::string_view(std::get<std::string>(value)));
  }
}

void RunsTable::insert(const ResultRow& row) {
  if (row.run >= runs_) {
    throw Error(ErrorKind::Internal, {"a row is of no configuration of the sweep", connection_->path().string(),
                                      fmt::format("{}", row.run), fmt::format("less than {}", runs_), ""});
  }
  // Columns first: a new one makes the statement anew.
  for (const auto& [key, setting] : row.settings.all()) {
    place(key, Role::Key);
  }
  for (const auto& [key, value] : row.axis_values) {
    place(key, Role::Axis);
  }
  sqlite3_clear_bindings(insert_.get());
  for (const auto& [key, setting] : row.settings.all()) {
    if (const int where = place(key, Role::Key); where > 0) {
      bind(where, setting.value);
    }
  }
  for (const auto& [key, value] : row.axis_values) {
    if (const int where = place(key, Role::Axis); where > 0) {
      bind(where, value);
    }
  }
  for (const auto& [name, value] : row.outcome.metrics) {
    const auto known = places_.find(name);
    if (known == places_.end()) {
      throw Error(ErrorKind::Internal, {"a metric is not declared", connection_->path().string(), name, "", ""});
    }
    if (std::isfinite(value)) {
      insert_.bind(known->second, value);
    }
  }
  const std::string error = row.outcome.failure ? format_error(row.outcome.failure->info) : "";
  insert_.bind(places_.at("run"), static_cast<std::int64_t>(row.run));
  insert_.bind(places_.at("status"), std::string_view(row.outcome.failure ? "error" : "ok"));
  if (row.outcome.failure) {
    insert_.bind(places_.at("error"), std::string_view(error));
  }
  insert_.bind(places_.at("configuration"), std::string_view(row.outcome.configuration));
  insert_.bind(places_.at("trace_hash"), std::string_view(row.outcome.trace_hash));
  insert_.bind(places_.at("tool_version"), std::string_view(RAYREPLAY_VERSION));
  insert_.bind(places_.at("device"), std::string_view(row.outcome.device));
  insert_.bind(places_.at("host"), std::string_view(row.host));
  insert_.bind(places_.at("started"), std::string_view(row.started));
  insert_.bind(places_.at("seconds"), row.outcome.seconds);
  insert_.step();
  insert_.reset();
  note_retry(row);
}

void RunsTable::note_retry(const ResultRow& row) {
  const bool again = row.outcome.failure && may_pass(*row.outcome.failure);
  if (!again && !any_retry_) {
    return;
  }
  any_retry_ = true;
  Statement note =
      connection_->prepare(again ? "INSERT OR REPLACE INTO retry (run) VALUES (?)" : "DELETE FROM retry WHERE run = ?");
  note.bind(1, static_cast<std::int64_t>(row.run));
  note.step();
}

}  // namespace rayreplay::sweep
