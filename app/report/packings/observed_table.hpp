// The device's own SIMT efficiency (sim/simt/observed.hpp), for comparison with a replay.
//
// Contract: counts of the co-execution groups in the trace; nothing is replayed. Without groups all results are empty.
// Keys: docs/surfaces.md.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "app/report/export/table.hpp"
#include "capture/trace/trace.hpp"
#include "sim/simt/observed.hpp"

namespace rayreplay::report {

/// Rows: the launch, then each stage that has groups.
[[nodiscard]] output::Table observed_table(const simt::Observed& observed, std::uint32_t warp_size);

/// True if threads of the launch are missing (window, every, full memory). Its groups are then those with at least one
/// recorded thread, so large groups are over-represented.
[[nodiscard]] bool threads_are_missing(const trace::Trace& trace, const trace::Launch& launch);

/// "\nobserved on DEVICE (…)" and the table; "" without captured groups.
[[nodiscard]] std::string observed_text(const trace::Trace& trace, const trace::Launch& launch);

/// The value of the key `observed`; null without captured groups.
[[nodiscard]] nlohmann::ordered_json observed_json(const trace::Trace& trace, const trace::Launch& launch);

}  // namespace rayreplay::report
