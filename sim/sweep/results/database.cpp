#include "sim/sweep/results/database.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <exception>
#include <fstream>
#include <mutex>
#include <set>
#include <thread>
#include <unordered_map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.hpp"
#include "sim/sweep/results/file_lock.hpp"
#include "sim/sweep/results/schema.hpp"
#include "sim/sweep/results/sqlite.hpp"

namespace rayreplay::sweep {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

// A reader in the middle of a query: rows wait in memory meanwhile, but at the end somebody has to give way.
constexpr int kTryMilliseconds = 100;
constexpr std::chrono::seconds kPatience{60};
// Looked through whenever it is opened for writing: takes some tens of milliseconds.
constexpr std::uintmax_t kLookedThroughBytes = 16U << 20U;

fs::path with_suffix(fs::path path, const char* suffix) {
  path += suffix;
  return path;
}

/// The file itself, whatever links lead to it: its lock and its journal stand beside it.
fs::path resolved(fs::path path) {
  constexpr int kMostLinks = 40;
  std::error_code error;
  for (int i = 0; i < kMostLinks && fs::is_symlink(path, error); ++i) {
    const fs::path target = fs::read_symlink(path, error);
    if (error) {
      break;
    }
    path = path.parent_path() / target;  // an absolute target stands alone
  }
  const fs::file_status status = fs::status(path, error);
  if (fs::exists(status) && !fs::is_regular_file(status)) {
    throw Error(ErrorKind::Output, {"results cannot be written to what is no file", path.string(),
                                    fs::is_directory(status) ? "a folder" : "a device or pipe", "the name of a file",
                                    "choose another name with -o"});
  }
  return path;
}

/// Two names of one file have two locks, and two journals.
void require_one_name(const fs::path& path) {
  std::error_code error;
  const std::uintmax_t names = fs::hard_link_count(path, error);
  if (!error && names > 1) {
    throw Error(ErrorKind::Output, {"the database has several names (hard links), so that two sweeps could write it",
                                    path.string(), fmt::format("{} names", names), "1",
                                    "copy it, or choose another "
                                    "name with -o"});
  }
}

/// Whether the same command may find it otherwise.
bool may_pass(const experiment::Failure& failure) {
  return failure.kind == ErrorKind::Resource || failure.kind == ErrorKind::Input;
}

/// `hash` is what a row of `trace` was made from. Nothing is known of a file that could not be read at the beginning.
void require_known(const std::vector<InputFile>& inputs, std::uint64_t run, const std::string& trace,
                   const std::string& hash, const std::string& fix) {
  if (trace.empty() || hash.empty()) {
    return;  // a workload
  }
  const fs::path name = fs::path(trace).filename();
  std::vector<std::string> expected;
  for (const InputFile& input : inputs) {
    if (fs::path(input.path).filename() == name) {
      expected.push_back(input.hash);
    }
  }
  if (!expected.empty() && std::ranges::find(expected, hash) == expected.end()) {
    throw Error(ErrorKind::Input, {fmt::format("the file has changed since the sweep began: run {} read it", run),
                                   trace, "hash " + hash, fmt::format("hash {}", fmt::join(expected, " or ")), fix});
  }
}

std::string text_of(const ResultRow& row, std::string_view key) {
  return row.settings.has(key) ? row.settings.text(key) : std::string();
}

constexpr const char* kBringBack = "bring the file back as it was, or begin anew with --restart";

/// Rows that are there.
void require_known_rows(const Connection& connection, const std::string& fix) {
  const std::vector<InputFile> inputs = read_inputs(connection);
  if (inputs.empty()) {
    return;
  }
  Statement rows = connection.prepare(
      "SELECT min(run), trace, trace_hash FROM runs WHERE status = 'ok' AND trace <> '' AND"
      " coalesce(workload, '') = '' GROUP BY trace, trace_hash ORDER BY 1");
  while (rows.step()) {
    require_known(inputs, static_cast<std::uint64_t>(rows.whole(0)), rows.text(1), rows.text(2), fix);
  }
}

void require_same_version(const std::string& there, const std::string& ours, const std::string& where,
                          const std::string& fix) {
  if (there != ours) {
    throw Error(ErrorKind::Usage, {"the rows are of another version of rayreplay", where,
                                   there.empty() ? "none" : "rayreplay " + there, "rayreplay " + ours, fix});
  }
}

/// Thrown away only if it is a database of a sweep, however damaged, or empty.
void remove_database(const fs::path& path) {
  std::string head(72, '\0');
  std::ifstream file(path, std::ios::binary);
  file.read(head.data(), static_cast<std::streamsize>(head.size()));
  const auto got = static_cast<std::size_t>(file.gcount());
  file.close();
  if (got > 0 && (!head.starts_with(std::string("SQLite format 3\0", 16)) || head.substr(68, 4) != "RRSW")) {
    throw Error(ErrorKind::Input, {"the file holds no results of a sweep and is not replaced", path.string(), "", "",
                                   "choose another name with -o"});
  }
  std::error_code ignored;
  fs::remove(path, ignored);  // first: a journal without its database is nothing
  fs::remove(with_suffix(path, "-journal"), ignored);
}

}  // namespace

// Rollback journal, not a write-ahead log: a log needs memory shared between all readers and the writer, which network
// file systems do not give, and leaves three files where a sweep's result is one. A commit a second costs nothing
// beside what is computed. synchronous=EXTRA: after a loss of power the file holds all that was committed.
class ResultsWriter::Impl {
 public:
  /// `path` leads over no link.
  Impl(const fs::path& path, const About& about, bool restart)
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
        lock_.leave();  // not looked through yet
      }
      throw;
    }
    // Rows that come faster than once a second are committed by it even if none comes any more.
    committer_ = std::jthread([this](const std::stop_token& stop) { commit_late(stop); });
  }

  ~Impl() {
    committer_.request_stop();
    wake_.notify_all();
    committer_.join();
    try {
      commit();
    } catch (...) {
      if (!rolled_back_) {
        lock_.leave();  // what was committed before stays; the next writer looks it through
      }
    }
  }

  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  std::vector<bool> finished(bool retry_errors) {
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

  std::optional<BestRow> best(const std::string& metric, experiment::Goal goal) {
    const std::lock_guard guard(mutex_);
    if (!places_.contains(metric)) {
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

  void check_input(const InputFile& input) {
    const std::lock_guard guard(mutex_);
    require_sound();
    Statement known = connection_->prepare("SELECT hash FROM inputs WHERE path = ?");
    known.bind(1, std::string_view(input.path));
    if (known.step()) {
      const std::string before = known.text(0);
      if (before != input.hash) {
        throw Error(ErrorKind::Input,
                    {"the file has changed since the sweep began", input.path, "hash " + input.hash, "hash " + before,
                     "bring the file back as it was, or begin anew with --restart"});
      }
      return;
    }
    known.reset();
    begin();
    inputs_.push_back(input);
    Statement insert = connection_->prepare("INSERT INTO inputs (path, hash) VALUES (?, ?)");
    insert.bind(1, std::string_view(input.path));
    insert.bind(2, std::string_view(input.hash));
    insert.step();
  }

  void add(const std::vector<ResultRow>& rows) {
    const std::lock_guard guard(mutex_);
    require_sound();
    for (const ResultRow& row : rows) {
      if (!row.outcome.failure && text_of(row, "workload").empty()) {
        require_known(inputs_, row.run, text_of(row, "trace"), row.outcome.trace_hash, kBringBack);
      }
    }
    try {
      for (const ResultRow& row : rows) {
        insert(row);
      }
      if (open_ && Clock::now() - committed_ >= std::chrono::duration<double>(kCommitSeconds)) {
        try_commit();
      }
    } catch (...) {
      fail();
      throw;
    }
  }

  void commit() {
    const std::lock_guard guard(mutex_);
    require_sound();
    // A reader may keep the file for as long as its query takes.
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

  std::uint64_t merge(const fs::path& other);

 private:
  /// Of main and of the attached database `other`: a run that both have has one result.
  void require_same_results(const std::vector<std::string>& metrics, const fs::path& where) const {
    if (metrics.empty()) {
      return;
    }
    std::vector<std::string> pairs, differ;
    for (const std::string& metric : metrics) {
      const std::string name = sql_name(metric);
      pairs.push_back(fmt::format("m.{0}, o.{0}", name));
      differ.push_back(fmt::format("m.{0} IS NOT o.{0}", name));
    }
    Statement row = connection_->prepare(
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
                                       fmt::format("{} as in {}", here, connection_->path().string()),
                                       "evaluate the run again, and merge databases that agree"});
      }
    }
  }

  void open(const fs::path& path) {
    connection_.emplace(path, Connection::Mode::Write);
    connection_->run("PRAGMA synchronous=EXTRA");
    connection_->run("PRAGMA cache_spill=OFF");  // rows that wait keep no reader out
    if (is_empty(*connection_)) {
      connection_->run("PRAGMA journal_mode=DELETE");
      create(*connection_, about_);
    } else {
      check_mark(*connection_);
      connection_->run("PRAGMA journal_mode=DELETE");  // whatever another program made of it
      require_whole(*connection_);
      std::error_code error;
      if (lock_.was_left() || fs::file_size(path, error) <= kLookedThroughBytes) {
        check_integrity();
      }
      const About there = read_about(*connection_);
      require_same_sweep(there, about_, path.string());
      require_same_version(there.tool_version, about_.tool_version, path.string(),
                           "use the rayreplay that wrote it, or begin anew with --restart");
      update_about(there);
      create_retry(*connection_);
      any_retry_ = connection_->number("SELECT count(*) FROM retry") > 0;
    }
    inputs_ = read_inputs(*connection_);
    read_columns_again();
    sqlite3_busy_timeout(connection_->get(), kTryMilliseconds);
    committed_ = Clock::now() - std::chrono::hours(1);
  }

  void check_integrity() const {
    Statement check = connection_->prepare("PRAGMA quick_check(1)");
    if (check.step() && check.text(0) != "ok") {
      throw Error(ErrorKind::Input, {"the database is damaged", connection_->path().string(), check.text(0), "",
                                     "sqlite3 FILE .recover saves what can be read; --restart begins the sweep anew"});
    }
  }

  void update_about(const About& there) {
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

  void read_columns_again() {
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

  void begin() {
    if (!open_) {
      connection_->run("BEGIN IMMEDIATE");
      open_ = true;
      wake_.notify_all();
    }
  }

  /// False while readers keep the file.
  bool try_commit() {
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

  void require_sound() const {
    if (failure_) {
      std::rethrow_exception(failure_);
    }
  }

  /// What is not committed is lost; nothing more is taken.
  void fail() {
    failure_ = std::current_exception();
    if (sqlite3_get_autocommit(connection_->get()) == 0) {
      rolled_back_ = connection_->try_run("ROLLBACK") == SQLITE_OK;
    } else {
      rolled_back_ = true;  // by SQLite
    }
    open_ = false;
  }

  void commit_late(const std::stop_token& stop) {
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
        fail();  // told by the next call
      }
    }
  }

  int place(const std::string& key, Role role) {
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
    begin();
    insert_ = Statement();
    add_column(*connection_, column);
    read_columns_again();
    return places_.at(key);
  }

  void bind(int place, const ParameterValue& value) {
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

  void insert(const ResultRow& row) {
    if (row.run >= about_.runs) {
      throw Error(ErrorKind::Internal, {"a row is of no configuration of the sweep", connection_->path().string(),
                                        fmt::format("{}", row.run), fmt::format("less than {}", about_.runs), ""});
    }
    // Columns first: a new one makes the statement anew.
    for (const auto& [key, setting] : row.settings.all()) {
      place(key, Role::Key);
    }
    for (const auto& [key, value] : row.axis_values) {
      place(key, Role::Axis);
    }
    begin();
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

  void note_retry(const ResultRow& row) {
    const bool again = row.outcome.failure && may_pass(*row.outcome.failure);
    if (!again && !any_retry_) {
      return;
    }
    any_retry_ = true;
    Statement note = connection_->prepare(again ? "INSERT OR REPLACE INTO retry (run) VALUES (?)"
                                                : "DELETE FROM retry WHERE run = ?");
    note.bind(1, static_cast<std::int64_t>(row.run));
    note.step();
  }

  FileLock lock_;
  About about_;
  std::mutex mutex_;
  std::condition_variable_any wake_;
  std::optional<Connection> connection_;
  Statement insert_;
  std::vector<ResultColumn> columns_;
  std::unordered_map<std::string, int> places_;
  std::set<std::string> names_, left_out_;
  bool open_ = false;  ///< a transaction
  Clock::time_point committed_;
  std::exception_ptr failure_;
  bool rolled_back_ = false;  ///< after a failure: the file holds what was committed and nothing else
  bool any_retry_ = false;
  std::vector<InputFile> inputs_;
  std::jthread committer_;
};

std::uint64_t ResultsWriter::Impl::merge(const fs::path& other) {
  commit();
  std::error_code ignored;
  if (fs::equivalent(other, connection_->path(), ignored)) {
    throw Error(ErrorKind::Usage, {"a database cannot be merged into itself", other.string(), "", "", ""});
  }
  constexpr const char* kOneInput = "evaluate the shards that read the other content again, or merge without them";
  std::vector<ResultColumn> theirs;
  std::vector<InputFile> inputs;
  {
    const Connection source(other, Connection::Mode::Read);
    source.run("BEGIN");
    check_mark(source);
    require_whole(source);
    const About about = read_about(source);
    if (about.definition_hash != about_.definition_hash) {
      try {
        require_same_sweep(about, about_, other.string());
      } catch (const Error& error) {
        ErrorInfo info = error.info();
        info.fix = "merge databases of one sweep";
        throw Error(error.kind(), info);
      }
    }
    require_same_version(about.tool_version, about_.tool_version, other.string(),
                         "evaluate all shards with one rayreplay");
    require_known_rows(source, kOneInput);
    theirs = read_columns(source);
    inputs = read_inputs(source);
  }
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
  commit();
  const std::lock_guard guard(mutex_);
  std::vector<std::string> names, metrics;
  begin();
  for (const ResultColumn& column : theirs) {
    if (place(column.name, column.role) > 0) {
      names.push_back(sql_name(column.name));
      if (column.role == Role::Metric) {
        metrics.push_back(column.name);
      }
    }
  }
  try_commit();
  Statement attach = connection_->prepare("ATTACH DATABASE ? AS other");
  const std::string file = other.is_absolute() ? other.string() : "./" + other.string();
  attach.bind(1, std::string_view(file));
  attach.step();
  attach.reset();
  std::uint64_t count = 0;
  try {
    require_same_results(metrics, other);
    begin();
    // A result never gives way to an error.
    connection_->run(fmt::format(
        "INSERT OR REPLACE INTO main.runs ({0}) SELECT {0} FROM other.runs AS o WHERE typeof(o.run) = 'integer' AND"
        " o.run >= 0 AND o.run < {1} AND (o.status = 'ok' OR NOT EXISTS (SELECT 1 FROM main.runs AS m WHERE m.run ="
        " o.run AND m.status = 'ok')) ORDER BY o.run",
        fmt::join(names, ","), about_.runs));
    count = static_cast<std::uint64_t>(sqlite3_changes64(connection_->get()));
    if (connection_->number("SELECT count(*) FROM other.sqlite_schema WHERE type = 'table' AND name = 'retry'") > 0) {
      connection_->run("INSERT OR IGNORE INTO main.retry (run) SELECT run FROM other.retry");
    }
    connection_->run("DELETE FROM main.retry WHERE run NOT IN (SELECT run FROM main.runs WHERE status <> 'ok')");
    any_retry_ = true;
    Statement shard = connection_->prepare("SELECT value FROM other.about WHERE name = 'shard'");
    const std::string of = shard.step() ? shard.text(0) : "";
    shard.reset();
    const std::string ours = read_about(*connection_).shard;
    if (!of.empty() && ("," + ours + ",").find("," + of + ",") == std::string::npos) {
      write_about(*connection_, "shard", ours + "," + of);
    }
  } catch (...) {
    fail();
    connection_->try_run("DETACH DATABASE other");
    throw;
  }
  if (!try_commit()) {
    fail();
    connection_->raise(SQLITE_BUSY);
  }
  connection_->run("DETACH DATABASE other");
  return count;
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
