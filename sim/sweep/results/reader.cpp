#include "sim/sweep/results/reader.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.hpp"
#include "base/memory.hpp"
#include "base/parameters.hpp"
#include "sim/sweep/results/expression.hpp"
#include "sim/sweep/results/schema.hpp"
#include "sim/sweep/results/sqlite.hpp"

namespace rayreplay::sweep {
namespace {

namespace fs = std::filesystem;

/// An interrupted transaction of a killed writer is rolled back first, which needs write permission.
void roll_back(const fs::path& path) {
  const Connection writer(path, Connection::Mode::Write);
  (void)writer.number("PRAGMA schema_version");
}

/// In a read transaction. Checks the database.
Connection open(const fs::path& path) {
  constexpr const char* kBegin = "BEGIN; SELECT count(*) FROM sqlite_schema";
  std::optional<Connection> connection(std::in_place, path, Connection::Mode::Read);
  int code = connection->try_run(kBegin);
  if (code == SQLITE_READONLY_ROLLBACK || code == SQLITE_READONLY_RECOVERY || code == SQLITE_READONLY_CANTINIT ||
      (code & 0xFF) == SQLITE_CANTOPEN) {
    try {
      connection.reset();
      roll_back(path);
    } catch (const Error&) {
      throw Error(ErrorKind::Input, {"a sweep that was killed left this database in the middle of writing",
                                     path.string(), "no permission to roll it back", "",
                                     "run the command once as a user who may write to the file and its folder"});
    }
    connection.emplace(path, Connection::Mode::Read);
    code = connection->try_run(kBegin);
  }
  if (code != SQLITE_OK) {
    connection->raise(sqlite3_extended_errcode(connection->get()));
  }
  if (is_empty(*connection)) {
    throw Error(ErrorKind::Input, {"the database holds no results of a sweep", path.string(), "an empty file", "", ""});
  }
  check_mark(*connection);
  check_database(*connection, false);
  return std::move(*connection);
}

ResultCell cell(const Statement& row, int column, ColumnType type) {
  switch (row.type(column)) {
    case SQLITE_NULL:
      return {};
    case SQLITE_INTEGER: {
      const std::int64_t value = row.whole(column);
      if (type == ColumnType::Truth) {
        return value != 0;
      }
      return type == ColumnType::Real ? ResultCell(static_cast<double>(value)) : ResultCell(value);
    }
    case SQLITE_FLOAT:
      return row.real(column);
    default:
      return row.text(column);
  }
}

/// A user's SQL may return endless rows: an error before memory runs out.
void require_room(std::size_t rows, const char* option) {
  constexpr std::size_t kRowsACheck = std::size_t{1} << 16U;
  // The list of rows doubles when it grows. The constant covers the rows until the next check, and SQLite.
  const std::uint64_t needed = (std::uint64_t{256} << 20U) + 2 * rows * sizeof(std::vector<ResultCell>);
  if (rows % kRowsACheck == 0 && available_memory() < needed) {
    throw Error(ErrorKind::Resource, {"the rows do not fit into memory", option, fmt::format("{} rows so far", rows),
                                      "a result that fits into memory", "ask for fewer: add LIMIT or a condition"});
  }
}

}  // namespace

ResultsReader::ResultsReader(const fs::path& path)
    : connection_(open(path)),
      about_(read_about(connection_)),
      columns_(read_columns(connection_)),
      inputs_(read_inputs(connection_)) {}

std::string ResultsReader::condition(const std::string& where) const {
  return where.empty() ? "" : " WHERE (" + where_to_sql(where, columns_) + ")";
}

/// Some errors of a user's SQL appear only while it runs; `option` is the option it came from.
ResultSet ResultsReader::collect(Statement& statement, std::vector<ResultColumn> of, const char* option) const {
  ResultSet result{std::move(of), {}};
  for (;;) {
    const int code = statement.try_step();
    if (code == SQLITE_DONE) {
      return result;
    }
    if (code != SQLITE_ROW) {
      const int primary = code & 0xFF;
      if (primary == SQLITE_ERROR || primary == SQLITE_MISMATCH || primary == SQLITE_TOOBIG) {
        throw Error(ErrorKind::Usage,
                    {std::string("the SQL is wrong: ") + sqlite3_errmsg(connection_.get()), option, "", "", ""});
      }
      connection_.raise(sqlite3_extended_errcode(connection_.get()));
    }
    std::vector<ResultCell> row;
    row.reserve(result.columns.size());
    for (std::size_t i = 0; i < result.columns.size(); ++i) {
      row.push_back(cell(statement, static_cast<int>(i), result.columns[i].type));
    }
    result.rows.push_back(std::move(row));
    require_room(result.rows.size(), option);
  }
}

const ResultColumn* ResultsReader::find(const std::string& name) const {
  const std::string wanted = folded(name);
  const auto place =
      std::ranges::find_if(columns_, [&](const ResultColumn& column) { return folded(column.name) == wanted; });
  return place == columns_.end() ? nullptr : &*place;
}

bool ResultsReader::has_checksums() const {
  return check_mark(connection_);
}

const ResultColumn& ResultsReader::column(const std::string& name, const std::string& option) const {
  if (const ResultColumn* found = find(name); found != nullptr) {
    return *found;
  }
  std::vector<std::string> names;
  for (const ResultColumn& known : columns_) {
    names.push_back(known.name);
  }
  const std::string near = nearest(name, names);
  throw Error(ErrorKind::Usage, {"unknown column", option, "'" + name + "'", "",
                                 near.empty() ? "see them with --query 'SELECT name, text FROM columns'"
                                              : "did you mean '" + near + "'?"});
}

std::vector<ResultColumn> ResultsReader::metrics() const {
  std::vector<ResultColumn> candidates;
  std::vector<std::string> counts;
  for (const ResultColumn& column : columns_) {
    if (column.role == Role::Metric) {
      candidates.push_back(column);
      counts.push_back("count(" + sql_name(column.name) + ")");
    }
  }
  std::vector<ResultColumn> found;
  if (candidates.empty()) {
    return found;
  }
  Statement statement = connection_.prepare(fmt::format("SELECT {} FROM runs", fmt::join(counts, ",")));
  statement.step();
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (statement.whole(static_cast<int>(i)) > 0) {
      found.push_back(candidates[i]);
    }
  }
  return found;
}

std::uint64_t ResultsReader::count(const std::string& where) const {
  Statement statement = connection_.prepare_query("SELECT count(*) FROM runs" + condition(where), "--where");
  return statement.step() ? static_cast<std::uint64_t>(statement.whole(0)) : 0;
}

std::uint64_t ResultsReader::failures() const {
  return static_cast<std::uint64_t>(connection_.number("SELECT count(*) FROM runs WHERE status <> 'ok'"));
}

std::uint64_t ResultsReader::retries() const {
  return has_retry(connection_) ? static_cast<std::uint64_t>(connection_.number("SELECT count(*) FROM retry")) : 0;
}

ResultSet ResultsReader::select(const std::vector<std::string>& names, const std::string& where) const {
  std::vector<ResultColumn> chosen;
  std::vector<std::string> selected;
  for (const std::string& name : names) {
    chosen.push_back(column(name, "--columns"));
    selected.push_back(sql_name(chosen.back().name));
  }
  Statement statement = connection_.prepare_query(
      fmt::format("SELECT {} FROM runs{} ORDER BY run", fmt::join(selected, ","), condition(where)), "--where");
  return collect(statement, std::move(chosen), "--where");
}

ResultSet ResultsReader::query(const std::string& sql) const {
  Statement statement = connection_.prepare_query(quote_columns(sql, columns_), "--query");
  std::vector<ResultColumn> columns;
  for (int i = 0; i < statement.columns(); ++i) {
    const char* name = sqlite3_column_name(statement.get(), i);
    const ResultColumn* known = find(name);
    columns.push_back(known != nullptr ? *known : ResultColumn{name, Role::About, ColumnType::Any, "", "", {}});
    columns.back().name = name;
  }
  return collect(statement, std::move(columns), "--query");
}

std::vector<std::string> ResultsReader::distinct(const std::string& name) const {
  const std::string column_name = sql_name(column(name, name).name);
  Statement statement =
      connection_.prepare(fmt::format("SELECT DISTINCT {0} FROM runs WHERE {0} <> '' ORDER BY 1", column_name));
  std::vector<std::string> result;
  while (statement.step()) {
    result.push_back(statement.text(0));
  }
  return result;
}

ResultSet ResultsReader::row(std::uint64_t run) const {
  std::vector<std::string> names;
  for (const ResultColumn& one : columns_) {
    names.push_back(one.name);
  }
  ResultSet result = select(names, fmt::format("run = {}", run));
  if (result.rows.empty()) {
    const bool beyond = run >= about().runs;
    throw Error(ErrorKind::Usage,
                {beyond ? "the sweep has no such run" : "this run has no result yet", path().string(),
                 fmt::format("run {}", run),
                 beyond ? fmt::format("0 to {}", about().runs - std::min<std::uint64_t>(about().runs, 1)) : "",
                 beyond ? "" : "finish the sweep"});
  }
  return result;
}

std::string ResultsReader::configuration(std::uint64_t run) const {
  const ResultSet all = row(run);
  for (std::size_t i = 0; i < all.columns.size(); ++i) {
    if (all.columns[i].name == "configuration") {
      return to_text(all.rows.front()[i]);
    }
  }
  return "";
}

bool is_number(const ResultCell& cell) {
  return std::holds_alternative<std::int64_t>(cell) || std::holds_alternative<double>(cell);
}

double number(const ResultCell& cell) {
  if (const auto* whole = std::get_if<std::int64_t>(&cell)) {
    return static_cast<double>(*whole);
  }
  const auto* real = std::get_if<double>(&cell);
  return real != nullptr ? *real : std::numeric_limits<double>::quiet_NaN();
}

std::string to_text(const ResultCell& cell) {
  if (const bool* truth = std::get_if<bool>(&cell)) {
    return *truth ? "true" : "false";
  }
  if (const auto* whole = std::get_if<std::int64_t>(&cell)) {
    return fmt::format("{}", *whole);
  }
  if (const auto* real = std::get_if<double>(&cell)) {
    return fmt::format("{}", *real);
  }
  const auto* text = std::get_if<std::string>(&cell);
  return text != nullptr ? *text : "";
}

}  // namespace rayreplay::sweep
