#include "sim/sweep/results/runs_table.hpp"

#include <cmath>
#include <cstdlib>
#include <string_view>
#include <utility>
#include <variant>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.hpp"
#include "sim/sweep/results/row_checksum.hpp"
#include "sim/sweep/results/schema.hpp"

namespace rayreplay::sweep {
namespace {

/// True if the error may be temporary.
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
  names_.insert(kChecksumColumn);
  std::vector<std::string> plain, names, marks;
  for (const ResultColumn& column : columns_) {
    plain.push_back(column.name);
    names.push_back(sql_name(column.name));
    marks.emplace_back("?");
  }
  checksum_.emplace("runs", plain);
  names.emplace_back(kChecksumColumn);
  marks.emplace_back("?");
  insert_ = connection_->prepare(
      fmt::format("INSERT OR REPLACE INTO runs ({}) VALUES ({})", fmt::join(names, ","), fmt::join(marks, ",")));
}

int RunsTable::place(const std::string& key, Role role) {
  if (const auto known = places_.find(key); known != places_.end()) {
    return known->second;
  }
  // A key of an open table.
  if (columns_.size() >= kMaxColumns || left_out_.contains(key)) {
    left_out_.insert(key);  // `configuration` still has it
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

void RunsTable::set(int place, const ParameterValue& value) {
  if (const bool* truth = std::get_if<bool>(&value)) {
    set(place, CellView(std::int64_t{*truth ? 1 : 0}));
  } else if (const auto* whole = std::get_if<std::int64_t>(&value)) {
    set(place, CellView(*whole));
  } else if (const auto* real = std::get_if<double>(&value)) {
    set(place, CellView(*real));
  } else {
    set(place, CellView(std::string_view(std::get<std::string>(value))));
  }
}

void RunsTable::set(int place, CellView value) {
  const auto column = static_cast<std::size_t>(place) - 1;
  const auto* real = std::get_if<double>(&value);
  if (real != nullptr && std::isnan(*real)) {
    value = std::monostate();  // as SQLite stores it
  }
  // SQLite converts a value to the column's type. The checksum covers the stored value.
  const ColumnType type = columns_[column].type;
  const bool as_stored = type == ColumnType::Any || std::holds_alternative<std::monostate>(value) ||
                         (type == ColumnType::Real   ? std::holds_alternative<double>(value)
                          : type == ColumnType::Text ? std::holds_alternative<std::string_view>(value)
                                                     : std::holds_alternative<std::int64_t>(value));
  read_back_ = read_back_ || !as_stored;
  cells_[column] = value;
}

void RunsTable::insert(const ResultRow& row) {
  if (row.run >= runs_) {
    throw Error(ErrorKind::Internal, {"a row belongs to no configuration of the sweep", connection_->path().string(),
                                      fmt::format("{}", row.run), fmt::format("less than {}", runs_), ""});
  }
  // New columns first, because they require a new statement.
  for (const auto& [key, setting] : row.settings.all()) {
    place(key, Role::Key);
  }
  for (const auto& [key, value] : row.axis_values) {
    place(key, Role::Axis);
  }
  cells_.assign(columns_.size(), CellView());
  read_back_ = false;
  for (const auto& [key, setting] : row.settings.all()) {
    if (const int where = place(key, Role::Key); where > 0) {
      set(where, setting.value);
    }
  }
  for (const auto& [key, value] : row.axis_values) {
    if (const int where = place(key, Role::Axis); where > 0) {
      set(where, value);
    }
  }
  for (const auto& [name, value] : row.outcome.metrics) {
    const auto known = places_.find(name);
    if (known == places_.end()) {
      throw Error(ErrorKind::Internal, {"a metric is not declared", connection_->path().string(), name, "", ""});
    }
    if (std::isfinite(value)) {
      set(known->second, CellView(value));
    }
  }
  const std::string error = row.outcome.failure ? format_error(row.outcome.failure->info) : "";
  const auto about = [this](const char* name, const CellView& value) { set(places_.at(name), value); };
  about("run", static_cast<std::int64_t>(row.run));
  about("status", row.outcome.failure ? "error" : "ok");
  if (row.outcome.failure) {
    about("error", error);
  }
  about("configuration", row.outcome.configuration);
  about("trace_hash", row.outcome.trace_hash);
  about("tool_version", RAYREPLAY_VERSION);
  about("device", row.outcome.device);
  about("host", row.host);
  about("started", row.started);
  about("seconds", row.outcome.seconds);
  int place = 1;
  for (const CellView& cell : cells_) {
    insert_.bind(place++, cell);
  }
  insert_.bind(place, checksum_->of(cells_));
  insert_.step();
  insert_.reset();
  if (read_back_) {
    reseal_runs(*connection_, fmt::format(" WHERE run = {}", row.run));
  }
  note_retry(row);
}

void RunsTable::note_retry(const ResultRow& row) {
  const bool again = row.outcome.failure && may_pass(*row.outcome.failure);
  if (!again && !any_retry_) {
    return;
  }
  any_retry_ = true;
  if (again) {
    insert_row(*connection_, "retry", {{"run", static_cast<std::int64_t>(row.run)}});
    return;
  }
  Statement note = connection_->prepare("DELETE FROM retry WHERE run = ?");
  note.bind(1, static_cast<std::int64_t>(row.run));
  note.step();
}

}  // namespace rayreplay::sweep
