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
// One process at a time writes: it holds a lock (fcntl on FILE-lock beside the file) until it exits or is killed. A
// second writer gets an Output error with the name of the first. Rows are committed in batches: a kill at any instant
// leaves a valid file that lacks at most the rows of the last `kCommitSeconds`. A full disk is an Output error with the
// system's reason; committed rows stay. Readers may read at any time. Rows may arrive in any order; a second row of a
// run replaces the first.
//
// Errors: Input for a file that is no such database, has a newer format or an older one (without checksums), or is
// damaged, and for rows made from an input whose content differs from `inputs`. Every opening checks the schema and
// every row's checksum. The pages are checked too if the file is small or its last writer was killed. Symbolic links
// are followed. Output for anything but a regular file, and for a file with hard links, because two sweeps could then
// write it.
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
  std::string sweep;  ///< the sweep file's text
  std::uint64_t runs = 0;
  std::vector<std::string> axes;  ///< keys
  std::string objective;          ///< "more l1_hit_rate", ""
  std::string shard = "1/1";
  std::string folder{};        ///< of the sweep, absolute; relative paths of rows are relative to it; "": unknown
  std::string tool_version{};  ///< "": this version
};

/// The best configuration by a metric.
struct BestRow {
  std::uint64_t run = 0;
  double value = 0;
};

/// The result of one configuration.
struct ResultRow {
  std::uint64_t run = 0;
  std::vector<std::pair<std::string, ParameterValue>> axis_values;
  experiment::Settings settings;  ///< complete, or as far as completion got
  experiment::Outcome outcome;
  std::string host;
  std::string started;  ///< "2026-01-31T12:00:00Z"
};

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
  [[nodiscard]] std::vector<bool> finished(bool retry_errors) const;
  /// Over all rows; ties go to the lower run. Empty if no row has the metric.
  [[nodiscard]] std::optional<BestRow> best(const std::string& metric, experiment::Goal goal) const;
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
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace rayreplay::sweep
