#include "sim/sweep/results/schema.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.hpp"
#include "sim/sweep/results/row_checksum.hpp"

namespace rayreplay::sweep {
namespace {

const std::vector<std::string> kTables = {"about", "columns", "inputs", "retry", "runs"};
constexpr const char* kLastColumn = "configuration";  // the last of the columns that every database has
constexpr std::size_t kMaxShown = 200;

[[noreturn]] void damaged(const Connection& connection, const std::string& what, const std::string& found) {
  throw Error(ErrorKind::Input, {what, connection.path().string(), found, "a database as rayreplay writes it",
                                 "--restart begins the sweep anew"});
}

std::string declaration(const ResultColumn& column) {
  return sql_name(column.name) + (column.name == "run" ? " INTEGER PRIMARY KEY" : sql_type(column.type));
}

void note_column(const Connection& connection, const ResultColumn& column) {
  const std::int64_t place = connection.number("SELECT coalesce(max(place), 0) + 1 FROM columns");
  insert_row(connection, "columns",
             {{"place", place},
              {"name", column.name},
              {"role", to_string(column.role)},
              {"type", to_string(column.type)},
              {"unit", column.unit},
              {"text", column.text},
              {"goal", to_string(column.goal)}});
}

/// Columns of all tables but `runs`.
std::string table_sql(const std::string& name, bool with_checksums) {
  const char* const sum = with_checksums ? ", checksum INTEGER" : "";
  if (name == "about") {
    return fmt::format("CREATE TABLE about (name TEXT PRIMARY KEY, value TEXT{}) WITHOUT ROWID", sum);
  }
  if (name == "columns") {
    return fmt::format(
        "CREATE TABLE columns (place INTEGER PRIMARY KEY, name TEXT UNIQUE, role TEXT, type TEXT, unit TEXT, text TEXT,"
        " goal TEXT{})",
        sum);
  }
  if (name == "inputs") {
    return fmt::format("CREATE TABLE inputs (path TEXT PRIMARY KEY, hash TEXT{}) WITHOUT ROWID", sum);
  }
  return fmt::format("CREATE TABLE retry (run INTEGER PRIMARY KEY{})", sum);
}

/// The definition as SQLite stores it after ALTER TABLE: added columns are at the end.
std::string runs_sql(const std::vector<ResultColumn>& columns, bool with_checksums) {
  std::vector<std::string> declarations;
  declarations.reserve(columns.size() + 1);
  for (const ResultColumn& column : columns) {
    declarations.push_back(declaration(column));
    if (with_checksums && column.name == kLastColumn) {
      declarations.push_back(std::string(kChecksumColumn) + " INTEGER");
    }
  }
  return fmt::format("CREATE TABLE runs ({})", fmt::join(declarations, ", "));
}

[[noreturn]] void foreign(const Connection& connection, const std::string& type, const std::string& name,
                          const std::string& found, const std::string& fix) {
  throw Error(ErrorKind::Input, {"the database holds an object that rayreplay did not make",
                                 fmt::format("{}: {} {}", connection.path().string(), type, name), found,
                                 "its tables runs, columns, about, inputs and retry, as rayreplay makes them", fix});
}

std::string joined(const std::vector<std::string>& names) {
  return names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "));
}

std::vector<std::string> lines(const std::string& text) {
  std::vector<std::string> result;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    line.erase(line.find_last_not_of(" \t\r") + 1);
    const auto first = line.find_first_not_of(" \t");
    if (first != std::string::npos && line[first] != '#') {
      result.push_back(line.substr(first));
    }
  }
  return result;
}

void require_whole(const Connection& connection) {
  // SQLite does not notice a last page that is cut off.
  const auto expected = static_cast<std::uintmax_t>(connection.number("PRAGMA page_count")) *
                        static_cast<std::uintmax_t>(connection.number("PRAGMA page_size"));
  std::error_code error;
  const std::uintmax_t found = std::filesystem::file_size(connection.path(), error);
  if (!error && found < expected) {
    throw Error(ErrorKind::Input, {"the database is cut off", connection.path().string(),
                                   fmt::format("{} bytes", found), fmt::format("{}", expected),
                                   "bring the whole file; sqlite3 FILE .recover saves what can be read; --restart "
                                   "begins the sweep anew"});
  }
}

void check_structure(const Connection& connection, bool always) {
  // Larger files are not checked in full: up to this size the check takes some tens of milliseconds.
  constexpr std::uintmax_t kLookedThroughBytes = 16U << 20U;
  std::error_code error;
  if (!always && std::filesystem::file_size(connection.path(), error) > kLookedThroughBytes) {
    return;
  }
  Statement check = connection.prepare("PRAGMA quick_check(1)");
  if (check.step() && check.text(0) != "ok") {
    throw Error(ErrorKind::Input, {"the database is damaged", connection.path().string(), check.text(0), "",
                                   "sqlite3 FILE .recover saves what can be read; --restart begins the sweep anew"});
  }
}

void check_content(const Connection& connection) {
  const bool with_checksums = check_mark(connection);
  std::map<std::string, std::string> found;
  Statement objects = connection.prepare("SELECT type, name, tbl_name, sql FROM sqlite_schema");
  while (objects.step()) {
    const std::string type = objects.text(0), name = objects.text(1), sql = objects.text(3);
    if (type == "table" && name.starts_with("sqlite_stat")) {
      continue;
    }
    if (type == "index" && name == "sqlite_autoindex_columns_1" && sql.empty()) {
      continue;
    }
    if (type != "table" || name != objects.text(2) || std::ranges::find(kTables, name) == kTables.end()) {
      foreign(connection, type, name, "", "remove it: sqlite3 FILE 'DROP ...'");
    }
    found[name] = sql;
  }
  const auto require = [&](const std::string& name, const std::string& sql) {
    if (const auto there = found.find(name); there == found.end() || there->second != sql) {
      foreign(connection, "table", name, there == found.end() ? "none" : there->second.substr(0, kMaxShown),
              "copy the file again from where it came; --restart begins the sweep anew");
    }
  };
  for (const std::string& name : kTables) {
    // The first databases had no such table.
    if (name != "runs" && (name != "retry" || with_checksums || found.contains(name))) {
      require(name, table_sql(name, with_checksums));
    }
  }
  if (with_checksums) {
    verify_rows(connection, "columns");
  }
  require("runs", runs_sql(read_columns(connection), with_checksums));
  if (with_checksums) {
    for (const char* table : {"about", "inputs", "retry", "runs"}) {
      verify_rows(connection, table);
    }
  }
}

}  // namespace

bool is_empty(const Connection& connection) {
  return connection.number("PRAGMA schema_version") == 0 && connection.number("PRAGMA application_id") == 0;
}

bool check_mark(const Connection& connection) {
  const std::int64_t mark = connection.number("PRAGMA application_id");
  const std::int64_t version = connection.number("PRAGMA user_version");
  if (mark != kApplicationId) {
    throw Error(ErrorKind::Input, {"the database holds no results of a sweep", connection.path().string(), "", "",
                                   "name a file that rayreplay sweep wrote"});
  }
  if (version != kFormatVersion && version != kFormatWithoutChecksums) {
    throw Error(ErrorKind::Input,
                {version > kFormatVersion ? "the database is of a newer format" : "the database's format is not known",
                 connection.path().string(), fmt::format("version {}", version),
                 fmt::format("version {}", kFormatVersion), "use the rayreplay that wrote it"});
  }
  return version == kFormatVersion;
}

void require_current(const Connection& connection) {
  if (!check_mark(connection)) {
    throw Error(ErrorKind::Input,
                {"the database is of an older format, whose rows have no checksums: nothing is added to it",
                 connection.path().string(), fmt::format("version {}", kFormatWithoutChecksums),
                 fmt::format("version {}", kFormatVersion),
                 "rayreplay results still reads it; use the rayreplay that wrote it, or begin anew with --restart"});
  }
}

void check_database(const Connection& connection, bool after_kill) {
  require_whole(connection);
  check_structure(connection, after_kill);
  check_content(connection);
}

void create(const Connection& connection, const About& about) {
  const std::vector<ResultColumn> columns = result_columns(about.axes);
  connection.run(fmt::format("PRAGMA application_id={}; PRAGMA user_version={}", kApplicationId, kFormatVersion));
  for (const std::string& table : kTables) {
    connection.run(table == "runs" ? runs_sql(columns, true) : table_sql(table, true));
  }
  for (const ResultColumn& column : columns) {
    note_column(connection, column);
  }
  const std::pair<const char*, std::string> values[] = {
      {"format_version", std::to_string(kFormatVersion)},
      {"tool_version", about.tool_version.empty() ? RAYREPLAY_VERSION : about.tool_version},
      {"definition_hash", about.definition_hash},
      {"sweep", about.sweep},
      {"runs", std::to_string(about.runs)},
      {"axes", fmt::format("{}", fmt::join(about.axes, "\n"))},
      {"objective", about.objective},
      {"shard", about.shard},
      {"folder", about.folder}};
  for (const auto& [name, value] : values) {
    write_about(connection, name, value);
  }
}

void write_about(const Connection& connection, const std::string& name, const std::string& value) {
  insert_row(connection, "about", {{"name", name}, {"value", value}});
}

About read_about(const Connection& connection) {
  std::map<std::string, std::string> values{{"shard", "1/1"}};
  Statement rows = connection.prepare("SELECT name, value FROM about");
  while (rows.step()) {
    values[rows.text(0)] = rows.text(1);
  }
  About about;
  about.definition_hash = values["definition_hash"];
  about.sweep = values["sweep"];
  about.objective = values["objective"];
  about.shard = values["shard"];
  about.tool_version = values["tool_version"];
  about.folder = values["folder"];
  std::istringstream axes(values["axes"]);
  for (std::string axis; std::getline(axes, axis);) {
    about.axes.push_back(axis);
  }
  const std::string& runs = values["runs"];
  const auto [end, error] = std::from_chars(runs.data(), runs.data() + runs.size(), about.runs);
  constexpr std::uint64_t kMaxRuns = std::uint64_t{1} << 40U;
  if (error != std::errc() || end != runs.data() + runs.size() || about.runs > kMaxRuns ||
      about.definition_hash.empty()) {
    damaged(connection, "the database does not say which sweep it is of", "'" + runs + "' runs");
  }
  return about;
}

std::vector<ResultColumn> read_columns(const Connection& connection) {
  std::vector<std::string> there;
  Statement info = connection.prepare("SELECT name FROM pragma_table_info('runs')");
  while (info.step()) {
    there.push_back(info.text(0));
  }
  std::vector<ResultColumn> columns;
  Statement rows = connection.prepare("SELECT name, role, type, unit, text, goal FROM columns ORDER BY place");
  while (rows.step()) {
    ResultColumn column{rows.text(0), Role::About, ColumnType::Any, rows.text(3), rows.text(4), experiment::Goal::None};
    if (!from_string(rows.text(1), column.role) || !from_string(rows.text(2), column.type) ||
        !from_string(rows.text(5), column.goal) || std::ranges::find(there, column.name) == there.end()) {
      damaged(connection, "a column's description does not fit the table of runs", "'" + column.name + "'");
    }
    columns.push_back(std::move(column));
  }
  for (const char* needed :
       {"run", "status", "error", "trace_hash", "tool_version", "device", "host", "started", "seconds", kLastColumn}) {
    if (std::ranges::none_of(columns, [needed](const ResultColumn& column) { return column.name == needed; })) {
      damaged(connection, std::string("the table of runs has no column ") + needed, "");
    }
  }
  return columns;
}

void add_column(const Connection& connection, const ResultColumn& column) {
  connection.run("ALTER TABLE runs ADD COLUMN " + declaration(column));
  note_column(connection, column);
}

std::vector<InputFile> read_inputs(const Connection& connection) {
  std::vector<InputFile> inputs;
  Statement rows = connection.prepare("SELECT path, hash FROM inputs ORDER BY path");
  while (rows.step()) {
    inputs.push_back({rows.text(0), rows.text(1)});
  }
  return inputs;
}

bool has_retry(const Connection& connection) {
  return connection.number("SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = 'retry'") > 0;
}

void require_same_sweep(const About& there, const About& asked, const std::string& where) {
  if (there.definition_hash == asked.definition_hash) {
    return;
  }
  ErrorInfo info{"the database holds another sweep", where, "", "",
                 "choose another name with -o, or add --restart to throw away what is there"};
  if (there.axes != asked.axes) {
    info.found = "axes " + joined(there.axes);
    info.expected = "axes " + joined(asked.axes);
  } else if (there.runs != asked.runs) {
    info.found = fmt::format("{} configurations", there.runs);
    info.expected = fmt::format("{}", asked.runs);
  } else {
    const auto found = lines(there.sweep), expected = lines(asked.sweep);
    const auto [mine, theirs] = std::mismatch(found.begin(), found.end(), expected.begin(), expected.end());
    info.found = mine == found.end() ? "the end of the sweep" : "'" + *mine + "'";
    info.expected = theirs == expected.end() ? "the end of the sweep" : "'" + *theirs + "'";
    if (mine == found.end() && theirs == expected.end()) {
      info.found = "the same text with another meaning: a file that it names has changed, or rayreplay has";
      info.expected = "";
    }
  }
  throw Error(ErrorKind::Usage, info);
}

void require_same_version(const std::string& there, const std::string& ours, const std::string& where,
                          const std::string& fix) {
  if (there != ours) {
    throw Error(ErrorKind::Usage, {"the rows are of another version of rayreplay", where,
                                   there.empty() ? "none" : "rayreplay " + there, "rayreplay " + ours, fix});
  }
}

}  // namespace rayreplay::sweep
