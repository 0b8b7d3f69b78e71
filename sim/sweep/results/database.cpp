#include "sim/sweep/results/database.hpp"

#include <chrono>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "sim/sweep/results/database_file.hpp"
#include "sim/sweep/results/known_inputs.hpp"
#include "sim/sweep/results/row_checksum.hpp"
#include "sim/sweep/results/schema.hpp"
#include "sim/sweep/results/writer_impl.hpp"

namespace rayreplay::sweep {
namespace {

namespace fs = std::filesystem;

// A reader may be in the middle of a long query. Rows wait in memory meanwhile; the final commit has a time limit.
constexpr int kTryMilliseconds = 100;
constexpr std::chrono::seconds kPatience{60};

}  // namespace

void require_same_version(const std::string& there, const std::string& ours, const std::string& where,
                          const std::string& fix) {
  if (there != ours) {
    throw Error(ErrorKind::Usage, {"the rows are of another version of rayreplay", where,
                                   there.empty() ? "none" : "rayreplay " + there, "rayreplay " + ours, fix});
  }
}

ResultsWriter::Impl::Impl(const fs::path& path, const About& about, bool restart)
    : lock_(with_suffix(path, "-lock"), path), about_(about) {
  if (about_.tool_version.empty()) {
    about_.tool_version = RAYREPLAY_VERSION;
  }
  try {
    if (restart) {
      remove_database(path);
    }
    require_one_name(path);
    open(path);
  } catch (...) {
    if (lock_.was_left()) {
      lock_.leave();  // not checked yet
    }
    throw;
  }
  // Rows that arrive faster than one a second: this commits them even if no further row arrives.
  committer_ = std::jthread([this](const std::stop_token& stop) { commit_late(stop); });
}

ResultsWriter::Impl::~Impl() {
  committer_.request_stop();
  wake_.notify_all();
  committer_.join();
  try {
    commit();
  } catch (...) {
    if (!rolled_back_) {
      lock_.leave();  // committed rows stay; the next writer checks the file
    }
  }
}

std::vector<bool> ResultsWriter::Impl::finished(bool retry_errors) {
  const std::lock_guard guard(mutex_);
  require_known_rows(*connection_, kBringBack);
  std::vector<bool> result(about_.runs, false);
  Statement rows = connection_->prepare(retry_errors ? "SELECT run FROM runs WHERE status = 'ok'"
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

std::optional<BestRow> ResultsWriter::Impl::best(const std::string& metric, experiment::Goal goal) {
  const std::lock_guard guard(mutex_);
  if (!runs_->has(metric)) {
    return std::nullopt;
  }
  const std::string name = sql_name(metric);
  Statement row = connection_->prepare(
      fmt::format("SELECT run, {0} FROM runs WHERE status = 'ok' AND typeof({0}) IN ('real', 'integer') ORDER BY {0} "
                  "{1}, run LIMIT 1",
                  name, goal == experiment::Goal::Less ? "ASC" : "DESC"));
  if (!row.step()) {
    return std::nullopt;
  }
  return BestRow{static_cast<std::uint64_t>(row.whole(0)), row.real(1)};
}

void ResultsWriter::Impl::check_input(const InputFile& input) {
  const std::lock_guard guard(mutex_);
  require_sound();
  if (const auto known = hash_of_.find(input.path); known != hash_of_.end()) {
    if (known->second != input.hash) {
      throw Error(ErrorKind::Input, {"the file has changed since the sweep began", input.path, "hash " + input.hash,
                                     "hash " + known->second, kBringBack});
    }
    return;
  }
  begin();
  insert_row(*connection_, "inputs", {{"path", input.path}, {"hash", input.hash}});
  inputs_.push_back(input);
  hash_of_.emplace(input.path, input.hash);
}

void ResultsWriter::Impl::add(const std::vector<ResultRow>& rows) {
  const std::lock_guard guard(mutex_);
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

void ResultsWriter::Impl::commit() {
  const std::lock_guard guard(mutex_);
  require_sound();
  // A reader may lock the file for the length of its query.
  const Clock::time_point start = Clock::now();
  try {
    while (!try_commit() && Clock::now() - start < kPatience) {
    }
    if (open_) {
      connection_->raise(SQLITE_BUSY);
    }
  } catch (...) {
    fail();
    throw;
  }
}

void ResultsWriter::Impl::open(const fs::path& path) {
  connection_.emplace(path, Connection::Mode::Write);
  connection_->run("PRAGMA synchronous=EXTRA");
  connection_->run("PRAGMA cache_spill=OFF");  // an uncommitted row must not lock readers out
  if (is_empty(*connection_)) {
    connection_->run("PRAGMA journal_mode=DELETE");
    begin();
    create(*connection_, about_);
  } else {
    require_current(*connection_);
    connection_->run("PRAGMA journal_mode=DELETE");  // in case another program changed the mode
    require_whole(*connection_);
    check_structure(*connection_, lock_.was_left());
    check_content(*connection_);
    const About there = read_about(*connection_);
    require_same_sweep(there, about_, path.string());
    require_same_version(there.tool_version, about_.tool_version, path.string(),
                         "use the rayreplay that wrote it, or begin anew with --restart");
    update_about(there);
  }
  inputs_ = read_inputs(*connection_);
  for (const InputFile& input : inputs_) {
    hash_of_.emplace(input.path, input.hash);
  }
  runs_.emplace(*connection_, about_.runs);
  sqlite3_busy_timeout(connection_->get(), kTryMilliseconds);
  committed_ = Clock::now() - std::chrono::hours(1);
}

void ResultsWriter::Impl::update_about(const About& there) {
  std::string shard = there.shard;
  if (("," + shard + ",").find("," + about_.shard + ",") == std::string::npos) {
    shard += "," + about_.shard;
  }
  if (shard == there.shard && there.objective == about_.objective && there.sweep == about_.sweep &&
      there.folder == about_.folder) {
    return;
  }
  connection_->run("BEGIN IMMEDIATE");
  write_about(*connection_, "shard", shard);
  write_about(*connection_, "objective", about_.objective);
  write_about(*connection_, "sweep", about_.sweep);
  write_about(*connection_, "folder", about_.folder);
  connection_->run("COMMIT");
}

void ResultsWriter::Impl::begin() {
  if (!open_) {
    connection_->run("BEGIN IMMEDIATE");
    open_ = true;
    wake_.notify_all();
  }
}

bool ResultsWriter::Impl::try_commit() {
  if (!open_) {
    return true;
  }
  if (const int code = connection_->try_run("COMMIT"); code != SQLITE_OK) {
    if ((code & 0xFF) == SQLITE_BUSY) {
      return false;
    }
    connection_->raise(code);
  }
  open_ = false;
  committed_ = Clock::now();
  return true;
}

void ResultsWriter::Impl::require_sound() const {
  if (failure_) {
    std::rethrow_exception(failure_);
  }
}

void ResultsWriter::Impl::fail() {
  failure_ = std::current_exception();
  if (sqlite3_get_autocommit(connection_->get()) == 0) {
    rolled_back_ = connection_->try_run("ROLLBACK") == SQLITE_OK;
  } else {
    rolled_back_ = true;  // by SQLite
  }
  open_ = false;
}

void ResultsWriter::Impl::commit_late(const std::stop_token& stop) {
  std::unique_lock guard(mutex_);
  while (!stop.stop_requested()) {
    if (!open_) {
      wake_.wait(guard, stop, [this] { return open_; });
      continue;
    }
    wake_.wait_for(guard, stop, std::chrono::duration<double>(kCommitSeconds), [] { return false; });
    try {
      if (!stop.stop_requested() && !failure_) {
        try_commit();
      }
    } catch (...) {
      fail();  // the next call reports the error
    }
  }
}

ResultsWriter::ResultsWriter(const fs::path& path, const About& about, bool restart)
    : impl_(std::make_unique<Impl>(resolved(path), about, restart)) {}
ResultsWriter::~ResultsWriter() = default;

std::vector<bool> ResultsWriter::finished(bool retry_errors) const {
  return impl_->finished(retry_errors);
}
std::optional<BestRow> ResultsWriter::best(const std::string& metric, experiment::Goal goal) const {
  return impl_->best(metric, goal);
}
void ResultsWriter::check_input(const InputFile& input) {
  impl_->check_input(input);
}
void ResultsWriter::add(const std::vector<ResultRow>& rows) {
  impl_->add(rows);
}
void ResultsWriter::commit() {
  impl_->commit();
}
std::uint64_t ResultsWriter::merge(const fs::path& other) {
  return impl_->merge(other);
}

}  // namespace rayreplay::sweep
