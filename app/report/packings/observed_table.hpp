// The device's own SIMT efficiency (sim/simt/observed.hpp), for comparison with a replay.
//
// Contract: counts of the co-execution groups in the trace; nothing is replayed. Without groups all results are empty.
// Keys: docs/surfaces.md.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "app/report/export/table.hpp"
#include "capture/profile/path_efficiency.hpp"
#include "capture/trace/trace.hpp"
#include "sim/simt/observed.hpp"

namespace rayreplay::report {

/// SIMT efficiency inside shaders, from the trace's counts of basic blocks: of all shaders of the launch's pipelines,
/// over all captured launches. Empty without counts of groups.
struct InstructionEfficiency {
  std::optional<double> all;
  std::array<std::optional<double>, trace::kRayTracingStages> by_stage;
  /// Of the launch's groups of events (capture/profile/path_efficiency.hpp). Empty without paths.
  profile::PathTallies paths;
};
[[nodiscard]] InstructionEfficiency instruction_efficiency(const trace::Trace& trace, const trace::Launch& launch);

/// Rows: the launch, then each stage that has groups; the efficiencies by instruction in last columns where they are
/// known.
[[nodiscard]] output::Table observed_table(const simt::Observed& observed, std::uint32_t warp_size,
                                           const InstructionEfficiency& inside);

/// True if threads of the launch are missing (window, every, full memory). Its groups are then those with at least one
/// recorded thread, so large groups are over-represented.
[[nodiscard]] bool threads_are_missing(const trace::Trace& trace, const trace::Launch& launch);

/// "\nobserved on DEVICE (…)" and the table; "" without captured groups.
[[nodiscard]] std::string observed_text(const trace::Trace& trace, const trace::Launch& launch);

/// The value of the key `observed`; null without captured groups.
[[nodiscard]] nlohmann::ordered_json observed_json(const trace::Trace& trace, const trace::Launch& launch);

}  // namespace rayreplay::report
