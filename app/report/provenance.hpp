// What every result says about where it comes from: tool, device, trace.
//
// Contract: `provenance_json` begins a document with `schema`, `tool`, `device`, `devices` and `trace`
// (docs/surfaces.md); `provenance_cells` are the columns of a CSV that say the same shortly; `with_cells` adds such
// columns to every row, as detail. `stages`: what ran where (base/accelerator.hpp); without any, all ran on the
// processor.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "app/output/table.hpp"
#include "base/accelerator.hpp"
#include "capture/trace/trace.hpp"

namespace rayreplay::report {

using NamedCells = std::vector<std::pair<std::string, output::Cell>>;

using Stages = std::vector<StageRecord>;

/// "CPU", "NVIDIA H200", "NVIDIA H200, CPU": all that ran a stage.
[[nodiscard]] std::string device_summary(const Stages& stages);
/// "replay: NVIDIA H200; sort: CPU (it ran out of memory)".
[[nodiscard]] std::string stages_text(const Stages& stages);
[[nodiscard]] nlohmann::ordered_json stages_json(const Stages& stages);

[[nodiscard]] nlohmann::ordered_json provenance_json(const std::string& schema, const std::string& trace_file,
                                                     const trace::Trace& trace, const Stages& stages = {});
[[nodiscard]] NamedCells provenance_cells(const trace::Trace& trace, const Stages& stages = {});
[[nodiscard]] output::Table with_cells(output::Table table, const NamedCells& cells);

}  // namespace rayreplay::report
