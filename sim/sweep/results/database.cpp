#include "sim/sweep/results/database.hpp"

#include <chrono>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "sim/sweep/results/database_file.hpp"
#include "sim/sweep/results/known_inputs.hpp"
#include "sim/sweep/results/row_checksum.hpp"
#include "sim/sweep/results/schema.hpp"

namespace rayreplay::sweep {
namespace {

namespace fs = std::filesystem;

// A reader may be in the middle of a long query. Rows wait in memory meanwhile; the final commit has a time limit.
constexpr int kTryMilliseconds = 100;
constexpr std::chrono::seconds kPatience{60};

/// `path` contains no symbolic link.
fs::path made_ready(fs::path path, bool restart) {
  if (restart) {
    remove_database(path);
  }
  require_one_name(path);
  return path;
}

}  // namespace

ResultsWriter::ResultsWriter(const fs::path& path, const About& about, bool restart)
    : lock_(with_suffix(resolved(path), "-lock"), path),
      about_(about),
      connection_(made_ready(resolved(path), restart), Connection::Mode::Write) {
  if (about_.tool_version.empty()) {
    about_.tool_version = RAYREPLAY_VERSION;
  }
  open();
  lock_.checked();
}

ResultsWriter::~ResultsWriter() {
  try {
    commit();
  } catch (...) {
    if (!rolled_back_) {
      lock_.leave();  // committed rows stay; the next writer checks the file
    }
  }
}

std::vector<bool> ResultsWriter::finished(bool retry_errors) {
  require_known_rows(connection_, kBringBack);
  std::vector<bool> result(about_.runs, false);
  Statement rows = connection_.prepare(retry_errors ? "SELECT run FROM runs WHERE status = 'ok'"
                                                    : "SELECT run FROM runs WHERE status = 'ok' OR run NOT IN"
                                                      " (SELECT run FROM retry)");
  while (rows.step()) {
    const std::int64_t run = rows.whole(0);
    if (run >= 0 && static_cast<std::uint64_t>(run) < about_.runs) {
      result[static_cast<std::size_t>(run)] = true;
    }
  }
  return result;
}

std::optional<BestRow> ResultsWriter::best(const std::string& metric, experiment::Goal goal) {
  if (!runs_->has(metric)) {
    return std::nullopt;
  }
  const std::string name = sql_name(metric);
  Statement row = connection_.prepare(
      fmt::format("SELECT run, {0} FROM runs WHERE status = 'ok' AND typeof({0}) IN ('real', 'integer') ORDER BY {0} "
                  "{1}, run LIMIT 1",
                  name, goal == experiment::Goal::Less ? "ASC" : "DESC"));
  if (!row.step()) {
    return std::nullopt;
  }
  return BestRow{static_cast<std::uint64_t>(row.whole(0)), row.real(1)};
}

void ResultsWriter::check_input(const InputFile& input) {
  require_sound();
  if (const auto known = hash_of_.find(input.path); known != hash_of_.end()) {
    if (known->second != input.hash) {
      throw Error(ErrorKind::Input, {"the file has changed since the sweep began", input.path, "hash " + input.hash,
                                     "hash " + known->second, kBringBack});
    }
    return;
  }
  begin();
  insert_row(connection_, "inputs", {{"path", input.path}, {"hash", input.hash}});
  inputs_.push_back(input);
  hash_of_.emplace(input.path, input.hash);
}

void ResultsWriter::add(const std::vector<ResultRow>& rows) {
  require_sound();
  for (const ResultRow& row : rows) {
    require_known(inputs_, row, kBringBack);
  }
  try {
    if (!rows.empty()) {
      begin();
    }
    for (const ResultRow& row : rows) {
      runs_->insert(row);
    }
    if (open_ && Clock::now() - committed_ >= std::chrono::duration<double>(kCommitSeconds)) {
      try_commit();
    }
  } catch (...) {
    fail();
    throw;
  }
}

void ResultsWriter::commit() {
  require_sound();
  // A reader may lock the file for the length of its query.
  const Clock::time_point start = Clock::now();
  try {
    while (!try_commit() && Clock::now() - start < kPatience) {
    }
    if (open_) {
      connection_.raise(SQLITE_BUSY);
    }
  } catch (...) {
    fail();
    throw;
  }
}

/// A rollback journal instead of a write-ahead log: the log needs memory shared between all readers and the writer,
/// which network file systems do not provide, and it leaves three files instead of one. One commit a second costs
/// nothing beside the computation. synchronous=EXTRA: committed rows survive a loss of power. A new database is created
/// in the transaction of its first rows: a kill before that leaves an empty file, which the next run fills.
void ResultsWriter::open() {
  connection_.run("PRAGMA synchronous=EXTRA");
  connection_.run("PRAGMA cache_spill=OFF");  // an uncommitted row must not lock readers out
  if (is_empty(connection_)) {
    connection_.run("PRAGMA journal_mode=DELETE");
    begin();
    create(connection_, about_);
  } else {
    require_current(connection_);
    connection_.run("PRAGMA journal_mode=DELETE");  // in case another program changed the mode
    check_database(connection_, lock_.was_left());
    const About there = read_about(connection_);
    require_same_sweep(there, about_, connection_.path().string());
    require_same_version(there.tool_version, about_.tool_version, connection_.path().string(),
                         "use the rayreplay that wrote it, or begin anew with --restart");
    update_about(there);
  }
  inputs_ = read_inputs(connection_);
  for (const InputFile& input : inputs_) {
    hash_of_.emplace(input.path, input.hash);
  }
  runs_.emplace(connection_, about_.runs);
  sqlite3_busy_timeout(connection_.get(), kTryMilliseconds);
  committed_ = Clock::now() - std::chrono::hours(1);
}

void ResultsWriter::update_about(const About& there) {
  std::string shard = there.shard;
  if (("," + shard + ",").find("," + about_.shard + ",") == std::string::npos) {
    shard += "," + about_.shard;
  }
  if (shard == there.shard && there.objective == about_.objective && there.sweep == about_.sweep &&
      there.folder == about_.folder) {
    return;
  }
  connection_.run("BEGIN IMMEDIATE");
  write_about(connection_, "shard", shard);
  write_about(connection_, "objective", about_.objective);
  write_about(connection_, "sweep", about_.sweep);
  write_about(connection_, "folder", about_.folder);
  connection_.run("COMMIT");
}

void ResultsWriter::begin() {
  if (!open_) {
    connection_.run("BEGIN IMMEDIATE");
    open_ = true;
  }
}

bool ResultsWriter::try_commit() {
  if (!open_) {
    return true;
  }
  if (const int code = connection_.try_run("COMMIT"); code != SQLITE_OK) {
    if ((code & 0xFF) == SQLITE_BUSY) {
      return false;
    }
    connection_.raise(code);
  }
  open_ = false;
  committed_ = Clock::now();
  return true;
}

void ResultsWriter::require_sound() const {
  if (failure_) {
    std::rethrow_exception(failure_);
  }
}

void ResultsWriter::fail() {
  failure_ = std::current_exception();
  if (sqlite3_get_autocommit(connection_.get()) == 0) {
    rolled_back_ = connection_.try_run("ROLLBACK") == SQLITE_OK;
  } else {
    rolled_back_ = true;  // by SQLite
  }
  open_ = false;
}

}  // namespace rayreplay::sweep
