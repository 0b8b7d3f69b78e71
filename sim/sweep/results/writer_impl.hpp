// Implementation of ResultsWriter. Internal to this folder; database.hpp has the contract.
//
// Rollback journal instead of write-ahead log: the log needs memory shared between all readers and the writer, which
// network file systems do not provide, and it leaves three files instead of one. One commit a second costs nothing
// beside the computation. synchronous=EXTRA: committed rows survive a loss of power. A new database is created in the
// transaction of its first rows: a kill before that leaves an empty file, which the next run fills.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "sim/sweep/results/database.hpp"
#include "sim/sweep/results/file_lock.hpp"
#include "sim/sweep/results/runs_table.hpp"
#include "sim/sweep/results/sqlite.hpp"

namespace rayreplay::sweep {

/// Usage for rows of different versions in one file.
void require_same_version(const std::string& there, const std::string& ours, const std::string& where,
                          const std::string& fix);

class ResultsWriter::Impl {
 public:
  /// `path` contains no symbolic link.
  Impl(const std::filesystem::path& path, const About& about, bool restart);
  ~Impl();
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  std::vector<bool> finished(bool retry_errors);
  std::optional<BestRow> best(const std::string& metric, experiment::Goal goal);
  void check_input(const InputFile& input);
  void add(const std::vector<ResultRow>& rows);
  void commit();
  std::uint64_t merge(const std::filesystem::path& other);

 private:
  using Clock = std::chrono::steady_clock;

  void open(const std::filesystem::path& path);
  void update_about(const About& there);
  void begin();
  /// False while readers lock the file.
  bool try_commit();
  void require_sound() const;
  /// Uncommitted rows are lost, and no more are accepted.
  void fail();
  void commit_late(const std::stop_token& stop);

  /// The steps of `merge`.
  struct Others {
    std::vector<ResultColumn> columns;
    std::vector<InputFile> inputs;
  };
  [[nodiscard]] Others look_at(const std::filesystem::path& other) const;
  void require_same_inputs(const std::vector<InputFile>& inputs, const std::filesystem::path& other);
  /// Checks main and the attached database `other`: a run in both must have one result.
  void require_same_results(const std::vector<std::string>& metrics, const std::filesystem::path& where) const;
  [[nodiscard]] std::uint64_t take_attached(const std::vector<std::string>& columns);

  FileLock lock_;
  About about_;
  std::mutex mutex_;
  std::condition_variable_any wake_;
  std::optional<Connection> connection_;
  std::optional<RunsTable> runs_;
  bool open_ = false;  ///< a transaction is open
  Clock::time_point committed_;
  std::exception_ptr failure_;
  bool rolled_back_ = false;  ///< after a failure: the file holds the committed rows only
  std::vector<InputFile> inputs_;
  std::unordered_map<std::string, std::string> hash_of_;  ///< of `inputs_`, by path
  std::jthread committer_;
};

}  // namespace rayreplay::sweep
