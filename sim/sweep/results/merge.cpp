// Rows of one database into another: ResultsWriter::merge.
#include <string_view>
#include <system_error>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.hpp"
#include "sim/sweep/results/database.hpp"
#include "sim/sweep/results/known_inputs.hpp"
#include "sim/sweep/results/row_checksum.hpp"
#include "sim/sweep/results/schema.hpp"

namespace rayreplay::sweep {
namespace {

namespace fs = std::filesystem;

constexpr const char* kOneInput = "evaluate the shards that read the other content again, or merge without them";

struct Others {
  std::vector<ResultColumn> columns;
  std::vector<InputFile> inputs;
};

Others look_at(const fs::path& other, const About& ours) {
  const Connection source(other, Connection::Mode::Read);
  source.run("BEGIN");
  require_current(source);
  check_database(source, false);
  const About about = read_about(source);
  if (about.definition_hash != ours.definition_hash) {
    try {
      require_same_sweep(about, ours, other.string());
    } catch (const Error& error) {
      ErrorInfo info = error.info();
      info.fix = "merge databases of one sweep";
      throw Error(error.kind(), info);
    }
  }
  require_same_version(about.tool_version, ours.tool_version, other.string(), "evaluate all shards with one rayreplay");
  require_known_rows(source, kOneInput);
  return {read_columns(source), read_inputs(source)};
}

/// Checks main and the attached database `other`: a run in both must have one result.
void require_same_results(const Connection& connection, const std::vector<std::string>& metrics,
                          const fs::path& where) {
  if (metrics.empty()) {
    return;
  }
  std::vector<std::string> pairs, differ;
  for (const std::string& metric : metrics) {
    const std::string name = sql_name(metric);
    pairs.push_back(fmt::format("m.{0}, o.{0}", name));
    differ.push_back(fmt::format("m.{0} IS NOT o.{0}", name));
  }
  Statement row = connection.prepare(
      fmt::format("SELECT m.run, {} FROM main.runs AS m JOIN other.runs AS o ON o.run = m.run WHERE m.status = 'ok'"
                  " AND o.status = 'ok' AND ({}) ORDER BY m.run LIMIT 1",
                  fmt::join(pairs, ", "), fmt::join(differ, " OR ")));
  if (!row.step()) {
    return;
  }
  for (std::size_t i = 0; i < metrics.size(); ++i) {
    const int ours = 1 + 2 * static_cast<int>(i);
    const std::string here = row.type(ours) == SQLITE_NULL ? "nothing" : fmt::format("{}", row.real(ours));
    const std::string there = row.type(ours + 1) == SQLITE_NULL ? "nothing" : fmt::format("{}", row.real(ours + 1));
    if (here != there) {
      throw Error(ErrorKind::Input, {"two databases have different results of one run", where.string(),
                                     fmt::format("run {}: {} {}", row.whole(0), metrics[i], there),
                                     fmt::format("{} as in {}", here, connection.path().string()),
                                     "evaluate the run again, and merge databases that agree"});
    }
  }
}

}  // namespace

void ResultsWriter::require_same_inputs(const std::vector<InputFile>& inputs, const fs::path& other) {
  for (const InputFile& input : inputs) {
    try {
      check_input(input);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::Input) {
        throw;
      }
      ErrorInfo info = error.info();
      info.what = "the shards read different contents of one file";
      info.where = other.string() + ", " + input.path;
      info.fix = kOneInput;
      throw Error(error.kind(), info);
    }
  }
}

std::uint64_t ResultsWriter::take_attached(const std::vector<std::string>& columns) {
  // An error row never replaces a result.
  connection_.run(fmt::format(
      "INSERT OR REPLACE INTO main.runs ({0}) SELECT {0} FROM other.runs AS o WHERE typeof(o.run) = 'integer' AND"
      " o.run >= 0 AND o.run < {1} AND (o.status = 'ok' OR NOT EXISTS (SELECT 1 FROM main.runs AS m WHERE m.run ="
      " o.run AND m.status = 'ok')) ORDER BY o.run",
      fmt::join(columns, ","), about_.runs));
  const auto count = static_cast<std::uint64_t>(sqlite3_changes64(connection_.get()));
  connection_.run("INSERT OR IGNORE INTO main.retry (run, checksum) SELECT run, checksum FROM other.retry");
  connection_.run("DELETE FROM main.retry WHERE run NOT IN (SELECT run FROM main.runs WHERE status <> 'ok')");
  runs_->retry_was_written();
  Statement shard = connection_.prepare("SELECT value FROM other.about WHERE name = 'shard'");
  const std::string of = shard.step() ? shard.text(0) : "";
  shard.reset();
  const std::string ours = read_about(connection_).shard;
  if (!of.empty() && ("," + ours + ",").find("," + of + ",") == std::string::npos) {
    write_about(connection_, "shard", ours + "," + of);
  }
  return count;
}

std::uint64_t ResultsWriter::merge(const fs::path& other) {
  commit();
  std::error_code ignored;
  if (fs::equivalent(other, connection_.path(), ignored)) {
    throw Error(ErrorKind::Usage, {"a database cannot be merged into itself", other.string(), "", "", ""});
  }
  const Others theirs = look_at(other, about_);
  require_same_inputs(theirs.inputs, other);
  commit();
  std::vector<std::string> names, metrics;
  begin();
  for (const ResultColumn& column : theirs.columns) {
    if (runs_->add(column.name, column.role)) {
      names.push_back(sql_name(column.name));
      if (column.role == Role::Metric) {
        metrics.push_back(column.name);
      }
    }
  }
  const bool whole_rows = names.size() == theirs.columns.size();
  names.emplace_back(kChecksumColumn);
  try_commit();
  Statement attach = connection_.prepare("ATTACH DATABASE ? AS other");
  const std::string file = other.is_absolute() ? other.string() : "./" + other.string();
  attach.bind(1, std::string_view(file));
  attach.step();
  attach.reset();
  std::uint64_t count = 0;
  try {
    require_same_results(connection_, metrics, other);
    // Not BEGIN IMMEDIATE: it would also lock the shard for writing. SQLite would then join the journals of both files
    // by a file with a random name, which a killed merge leaves behind.
    connection_.run("BEGIN");
    open_ = true;
    count = take_attached(names);
    if (!whole_rows) {
      // A column that only the other database has cannot be stored here.
      reseal_runs(connection_, " WHERE run IN (SELECT run FROM other.runs)");
    }
  } catch (...) {
    fail();
    connection_.try_run("DETACH DATABASE other");
    throw;
  }
  if (!try_commit()) {
    fail();
    connection_.raise(SQLITE_BUSY);
  }
  connection_.run("DETACH DATABASE other");
  return count;
}

}  // namespace rayreplay::sweep
