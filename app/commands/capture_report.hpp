// What `ingest` and `capture` print: a table of launches on standard output, what was and was not captured on standard
// error.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "app/output/table.hpp"
#include "base/error.hpp"
#include "capture/ingest/ingest.hpp"

namespace rayreplay::app {

/// Whether each launch's lanes were used well: lanes of all groups of warp events over warp size times groups.
[[nodiscard]] output::Table launch_table(const ingest::IngestResult& result);

/// The spools at `path` (a folder, or one file) that the layer could not write to their end.
struct SpoolFailure {
  std::filesystem::path spool;
  std::string reason;  ///< "": not known
};
[[nodiscard]] std::vector<SpoolFailure> spool_failures(const std::filesystem::path& path);

/// An error line for each.
void log_failures(const std::vector<SpoolFailure>& failures);

/// The table, or the JSON document "rayreplay.ingest/1".
void print_launches(const ingest::IngestResult& result, output::Format format);

/// False: every launch was left out.
[[nodiscard]] bool has_launches(const ingest::IngestResult& result);

/// What to say then; `output`: the trace that was to be written.
[[nodiscard]] Error no_launch(const std::string& output);

/// One line for each trace, then what it does not hold.
void log_traces(const ingest::IngestResult& result);

}  // namespace rayreplay::app
