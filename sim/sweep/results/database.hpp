// The results of a sweep: one SQLite file.
//
// Contract: table `runs` has one row a configuration: `run` (its number in the plan), `status` ("ok", "error"),
// `error`, a column for every key of an experiment, every axis and every metric, then `configuration`, `trace_hash`,
// `tool_version`, `device`, `host`, `started` (UTC), `seconds`. Table `columns`: name, role (key, axis, metric, about),
// unit, text, goal. Table `about`: name, value (format version, definition hash, sweep as TOML and its folder, number
// of runs, shard, tool version). Table `inputs`: path, hash. Table `retry`: runs with an error that may be temporary.
// Every row of every table has a `checksum` (row_checksum.hpp). docs/results.md describes the tables; they are a frozen
// surface.
//
// One writer at a time: it holds a lock (on FILE-lock beside the file) until its process exits or is killed. A second
// writer gets an Output error with the name of the first. Rows are committed in batches, by `add` at most every
// `kCommitSeconds`, and by `commit`: a kill at any instant leaves a valid file with all committed rows. A full disk is
// an Output error with the system's reason; committed rows stay, and no more are accepted. Readers may read at any
// time. Rows may arrive in any order; a second row of a run replaces the first. Not thread-safe.
//
// Errors: Input for a file that is no such database, has a newer format or an older one (without checksums), or is
// damaged, and for rows made from an input whose content differs from `inputs`. Every opening checks the schema and
// every row's checksum. The pages are checked too if the file is small or its last writer was killed. Symbolic links
// are followed. Output for anything but a regular file, and for a file with hard links, because two sweeps could then
// write it.
#pragma once

#include <chrono>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "sim/settings/metrics.hpp"
#include "sim/sweep/results/file_lock.hpp"
#include "sim/sweep/results/result_row.hpp"
#include "sim/sweep/results/runs_table.hpp"
#include "sim/sweep/results/sqlite.hpp"

namespace rayreplay::sweep {

inline constexpr double kCommitSeconds = 1;

class ResultsWriter {
 public:
  /// Creates the database or resumes it. Usage if it belongs to another sweep or another version (the message says what
  /// differs), Output if another process writes it. `restart` discards existing rows.
  ResultsWriter(const std::filesystem::path& path, const About& about, bool restart);
  ~ResultsWriter();  ///< commits
  ResultsWriter(const ResultsWriter&) = delete;
  ResultsWriter& operator=(const ResultsWriter&) = delete;

  /// By run: true for a row with status "ok". Without `retry_errors`, also true for "error", unless the cause was too
  /// little memory or an unreadable file. Input if a row was made from an input whose content differs from `inputs`.
  [[nodiscard]] std::vector<bool> finished(bool retry_errors);
  /// Over all rows; ties go to the lower run. Empty if no row has the metric.
  [[nodiscard]] std::optional<BestRow> best(const std::string& metric, experiment::Goal goal);
  /// Input if the file had another hash when the sweep began.
  void check_input(const InputFile& input);
  /// Rows of one call are committed together. Input if one was made from an input whose content differs from `inputs`:
  /// then none of them is added, and earlier rows stay.
  void add(const std::vector<ResultRow>& rows);
  void commit();
  /// Adds the rows of another database of the same sweep (a shard). Usage for another sweep or another version, Input
  /// if both have a result of one run and the results differ. Returns the number of rows added.
  std::uint64_t merge(const std::filesystem::path& other);

 private:
  using Clock = std::chrono::steady_clock;

  void open();
  void update_about(const About& there);
  void begin();
  /// False while readers lock the file.
  bool try_commit();
  void require_sound() const;
  /// Uncommitted rows are lost, and no more are accepted.
  void fail();
  void require_same_inputs(const std::vector<InputFile>& inputs, const std::filesystem::path& other);
  [[nodiscard]] std::uint64_t take_attached(const std::vector<std::string>& columns);

  FileLock lock_;
  About about_;
  Connection connection_;
  std::optional<RunsTable> runs_;
  bool open_ = false;  ///< a transaction is open
  Clock::time_point committed_;
  std::exception_ptr failure_;
  bool rolled_back_ = false;  ///< after a failure: the file holds the committed rows only
  std::vector<InputFile> inputs_;
  std::unordered_map<std::string, std::string> hash_of_;  ///< of `inputs_`, by path
};

}  // namespace rayreplay::sweep
