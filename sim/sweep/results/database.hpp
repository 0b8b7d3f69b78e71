// The results of a sweep: one SQLite file.
//
// Contract: table `runs`, one row a configuration: `run` (its number in the plan), `status` ("ok", "error"), `error`,
// one column for every key of an experiment and every axis, one for every metric, and `configuration`, `trace_hash`,
// `tool_version`, `device`, `host`, `started` (UTC), `seconds`. Table `columns`: name, role (key, axis, metric, about),
// unit, text, goal. Table `about`: name, value (format version, definition hash, sweep as TOML and its folder, number
// of runs, shard, tool version). Table `inputs`: path, hash. Table `retry`: runs whose error may pass. Every table has
// a `checksum` of its row (row_checksum.hpp). docs/results.md describes them; they are a frozen surface.
//   Written by one process at a time, which holds a lock (fcntl on FILE-lock beside it) until it ends, however it ends;
// a second one gets an Output error that names the first. Rows are committed whole, some at a time: a process that is
// killed at any instant leaves a sound file without at most the rows of the last `kCommitSeconds` and those being
// computed. A full disk is an Output error with the system's reason; what was committed before stays. Readers may read
// all the time. Rows may come in any order; the same run twice replaces. Errors: Input for files that are no such
// database, of a newer format, of an older one (without checksums), or damaged, and for rows that were made from
// another content of a file than `inputs` has. Every opening checks the schema and every row's checksum; it also checks
// the pages of small files and of files that the last process did not close. Symbolic links are followed. Output for
// anything but a regular file, and for a file of several names (hard links), as two sweeps could then write it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/engine/evaluator.hpp"
#include "sim/settings/metrics.hpp"
#include "sim/settings/settings.hpp"

namespace rayreplay::sweep {

inline constexpr double kCommitSeconds = 1;

struct InputFile {
  std::string path;
  std::string hash;
  bool operator==(const InputFile&) const = default;
};

struct About {
  std::string definition_hash;
  std::string sweep;  ///< the file's text
  std::uint64_t runs = 0;
  std::vector<std::string> axes;  ///< keys
  std::string objective;          ///< "more l1_hit_rate", ""
  std::string shard = "1/1";
  std::string folder{};        ///< of the sweep, absolute: relative paths of rows are relative to it; "": not known
  std::string tool_version{};  ///< "": this rayreplay's
};

/// The best by a metric.
struct BestRow {
  std::uint64_t run = 0;
  double value = 0;
};

/// What one configuration gave.
struct ResultRow {
  std::uint64_t run = 0;
  std::vector<std::pair<std::string, ParameterValue>> axis_values;
  experiment::Settings settings;  ///< complete; of a configuration that could not be completed as far as it is known
  experiment::Outcome outcome;
  std::string host;
  std::string started;  ///< "2026-01-31T12:00:00Z"
};

class ResultsWriter {
 public:
  /// Creates it, or goes on with what is there. Usage where it is another sweep's or another rayreplay's (says what
  /// differs), Output where another process writes it. `restart`: what is there is thrown away.
  ResultsWriter(const std::filesystem::path& path, const About& about, bool restart);
  ~ResultsWriter();  ///< commits
  ResultsWriter(const ResultsWriter&) = delete;
  ResultsWriter& operator=(const ResultsWriter&) = delete;

  /// By run: whether there is a row with status "ok" (or, unless `retry_errors`, "error"; but not one that failed for
  /// want of memory or of a file). Input where a row comes from another content of a file than `inputs` has.
  [[nodiscard]] std::vector<bool> finished(bool retry_errors) const;
  /// Of all rows; ties go to the lower run. Nothing where no row has the metric.
  [[nodiscard]] std::optional<BestRow> best(const std::string& metric, experiment::Goal goal) const;
  /// Input where the file had another hash when the sweep began.
  void check_input(const InputFile& input);
  /// Several at once are committed together. Input where one comes from another content of a file than `inputs` has:
  /// then none of them is taken, and what came before stays.
  void add(const std::vector<ResultRow>& rows);
  void commit();
  /// Rows of another database of the same sweep (a shard). Usage where it is of another sweep or another rayreplay's,
  /// Input where both have a result of one run and they differ. Returns how many came.
  std::uint64_t merge(const std::filesystem::path& other);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace rayreplay::sweep
