// The origin of every result: tool, device, trace.
//
// Contract: `provenance_json` starts a document with `schema`, `tool`, `device`, `devices` and `trace`
// (docs/surfaces.md). `machine_json` has every key of a machine's file, with values
// as the file writes them. `provenance_cells` are the same as columns of a CSV, in short form; `with_cells` adds such
// columns to every row, as detail. `stages`: the device of each stage (base/accelerator.hpp); without any, all ran
// on the processor.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "app/report/export/table.hpp"
#include "base/accelerator.hpp"
#include "capture/trace/trace.hpp"
#include "sim/machine/machine.hpp"

namespace rayreplay::report {

using NamedCells = std::vector<std::pair<std::string, output::Cell>>;

using Stages = std::vector<StageRecord>;

/// "CPU", "NVIDIA H200", "NVIDIA H200, CPU": all devices that ran a stage.
[[nodiscard]] std::string device_summary(const Stages& stages);
/// "replay: NVIDIA H200; sort: CPU (it ran out of memory)".
[[nodiscard]] std::string stages_text(const Stages& stages);
[[nodiscard]] nlohmann::ordered_json stages_json(const Stages& stages);

[[nodiscard]] nlohmann::ordered_json provenance_json(const std::string& schema, const std::string& trace_file,
                                                     const trace::Trace& trace, const Stages& stages = {});
[[nodiscard]] nlohmann::ordered_json machine_json(const machine::Machine& machine);
[[nodiscard]] NamedCells provenance_cells(const trace::Trace& trace, const Stages& stages = {});
[[nodiscard]] output::Table with_cells(output::Table table, const NamedCells& cells);

}  // namespace rayreplay::report
