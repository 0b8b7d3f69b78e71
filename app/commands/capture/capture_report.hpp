// Output of `ingest` and `capture`: a table of launches on standard output, the extent of the capture on standard
// error.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "app/report/export/table.hpp"
#include "base/error.hpp"
#include "capture/ingest/ingest.hpp"

namespace rayreplay::app {

/// Captured SIMT efficiency of each launch: lanes of all groups of warp events over warp size times groups.
[[nodiscard]] output::Table launch_table(const ingest::IngestResult& result);

/// The incomplete spools at `path` (a folder, or one file).
struct SpoolFailure {
  std::filesystem::path spool;
  std::string reason;  ///< "": unknown
};
[[nodiscard]] std::vector<SpoolFailure> spool_failures(const std::filesystem::path& path);

/// An error line for each.
void log_failures(const std::vector<SpoolFailure>& failures);

/// The table, or the JSON document "rayreplay.ingest/1".
void print_launches(const ingest::IngestResult& result, output::Format format);

/// False: nothing was written, because every launch was left out.
[[nodiscard]] bool has_traces(const ingest::IngestResult& result);

/// The error message for that case; `output`: the trace's intended name.
[[nodiscard]] Error no_launch(const std::string& output);

/// One line for each trace, then its limitations.
void log_traces(const ingest::IngestResult& result);

}  // namespace rayreplay::app
