// What every result says about where it comes from: tool, device, trace.
//
// Contract: `provenance_json` begins a document with `schema`, `tool`, `device` and `trace` (docs/surfaces.md);
// `provenance_cells` are the columns of a CSV that say the same shortly; `with_cells` adds such columns to every row,
// as detail.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "app/output/table.hpp"
#include "capture/trace/trace.hpp"

namespace rayreplay::report {

using NamedCells = std::vector<std::pair<std::string, output::Cell>>;

[[nodiscard]] nlohmann::ordered_json provenance_json(const std::string& schema, const std::string& trace_file,
                                                     const trace::Trace& trace);
[[nodiscard]] NamedCells provenance_cells(const trace::Trace& trace);
[[nodiscard]] output::Table with_cells(output::Table table, const NamedCells& cells);

}  // namespace rayreplay::report
