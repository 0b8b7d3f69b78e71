// What `ingest` and `capture` print: a table of launches on standard output, what was and was not captured on standard
// error.
#pragma once

#include "app/output/table.hpp"
#include "capture/ingest/ingest.hpp"

namespace rayreplay::app {

/// Whether each launch's lanes were used well: lanes of all groups of warp events over warp size times groups.
[[nodiscard]] output::Table launch_table(const ingest::IngestResult& result);

/// The table, or the JSON document "rayreplay.ingest/1".
void print_launches(const ingest::IngestResult& result, output::Format format);

/// One line for each trace, then what it does not hold.
void log_traces(const ingest::IngestResult& result);

}  // namespace rayreplay::app
