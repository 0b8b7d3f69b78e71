// What `ingest` and `capture` print: a table of launches on standard output, what was and was not captured on standard
// error.
#pragma once

#include <string>

#include "app/output/table.hpp"
#include "base/error.hpp"
#include "capture/ingest/ingest.hpp"

namespace rayreplay::app {

/// Whether each launch's lanes were used well: lanes of all groups of warp events over warp size times groups.
[[nodiscard]] output::Table launch_table(const ingest::IngestResult& result);

/// The table, or the JSON document "rayreplay.ingest/1".
void print_launches(const ingest::IngestResult& result, output::Format format);

/// False: every launch was left out.
[[nodiscard]] bool has_launches(const ingest::IngestResult& result);

/// What to say then; `output`: the trace that was to be written.
[[nodiscard]] Error no_launch(const std::string& output);

/// One line for each trace, then what it does not hold.
void log_traces(const ingest::IngestResult& result);

}  // namespace rayreplay::app
