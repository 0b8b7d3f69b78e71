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

fs::path with_suffix(fs::path path, const char* suffix) {
  path += suffix;
  return path;
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
  Impl(const fs::path& path, const About& about, bool restart)
      : lock_(with_suffix(path, "-lock"), path), about_(about) {
    if (restart) {
      remove_database(path);
    }
    try {
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
      lock_.leave();  // what was committed before stays; the next writer looks it through
    }
  }

  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  std::vector<bool> finished(bool retry_errors) {
    const std::lock_guard guard(mutex_);
    std::vector<bool> result(about_.runs, false);
    Statement rows = connection_->prepare("SELECT run, status FROM runs");
    while (rows.step()) {
      const std::int64_t run = rows.whole(0);
      if (run >= 0 && static_cast<std::uint64_t>(run) < about_.runs) {
        result[static_cast<std::size_t>(run)] = !retry_errors || rows.text(1) == "ok";
      }
    }
    return result;
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
    Statement insert = connection_->prepare("INSERT INTO inputs (path, hash) VALUES (?, ?)");
    insert.bind(1, std::string_view(input.path));
    insert.bind(2, std::string_view(input.hash));
    insert.step();
  }

  void add(const std::vector<ResultRow>& rows) {
    const std::lock_guard guard(mutex_);
    require_sound();
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
      if (lock_.was_left()) {
        check_integrity();
      }
      const About there = read_about(*connection_);
      require_same_sweep(there, about_, path.string());
      update_about(there);
    }
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
      connection_->try_run("ROLLBACK");
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
  std::jthread committer_;
};

std::uint64_t ResultsWriter::Impl::merge(const fs::path& other) {
  commit();
  std::error_code ignored;
  if (fs::equivalent(other, connection_->path(), ignored)) {
    throw Error(ErrorKind::Usage, {"a database cannot be merged into itself", other.string(), "", "", ""});
  }
  std::vector<ResultColumn> theirs;
  std::vector<InputFile> inputs;
  {
    const Connection source(other, Connection::Mode::Read);
    check_mark(source);
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
    theirs = read_columns(source);
    inputs = read_inputs(source);
  }
  for (const InputFile& input : inputs) {
    check_input(input);
  }
  commit();
  const std::lock_guard guard(mutex_);
  std::vector<std::string> names;
  begin();
  for (const ResultColumn& column : theirs) {
    if (place(column.name, column.role) > 0) {
      names.push_back(sql_name(column.name));
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
    begin();
    // A result never gives way to an error.
    connection_->run(fmt::format(
        "INSERT OR REPLACE INTO main.runs ({0}) SELECT {0} FROM other.runs AS o WHERE typeof(o.run) = 'integer' AND"
        " o.run >= 0 AND o.run < {1} AND (o.status = 'ok' OR NOT EXISTS (SELECT 1 FROM main.runs AS m WHERE m.run ="
        " o.run AND m.status = 'ok')) ORDER BY o.run",
        fmt::join(names, ","), about_.runs));
    count = static_cast<std::uint64_t>(sqlite3_changes64(connection_->get()));
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
    : impl_(std::make_unique<Impl>(path, about, restart)) {}
ResultsWriter::~ResultsWriter() = default;

std::vector<bool> ResultsWriter::finished(bool retry_errors) const {
  return impl_->finished(retry_errors);
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
