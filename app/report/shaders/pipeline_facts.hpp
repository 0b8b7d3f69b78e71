// The driver's facts of a trace's pipelines, by shader and as JSON.
//
// Contract: facts are those of a checked trace. A shader's stack sizes are those of all groups that hold it. Its
// registers are those of executables with its stage in the pipelines with such a group, because an executable names
// stages, not shaders (capture/trace/pipeline_registers.hpp). All other statistics are given as the driver gives them.
// A pipeline's occupancy on a machine is the number of warps for which an SM has registers, at most `resident_warps`. A
// thread has the registers of the executable with the most. Warps have the size that the time models give them: the
// user's, else the trace's, else the machine's.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "app/report/export/table.hpp"
#include "capture/trace/pipeline_registers.hpp"
#include "capture/trace/trace.hpp"
#include "sim/machine/machine.hpp"

namespace rayreplay::report {

struct LeastAndMost {
  std::uint64_t least = 0, most = 0;
};

struct ShaderDriverFacts {
  std::optional<LeastAndMost> stack_bytes;
  std::optional<LeastAndMost> registers;  ///< of a thread
};

/// A row for each stage of `stages`, which are those of the trace's shaders. O(groups + shaders · statistics).
[[nodiscard]] std::vector<ShaderDriverFacts> driver_facts(const std::vector<trace::PipelineFacts>& pipelines,
                                                          const std::vector<trace::ShaderStage>& stages);

/// The stage of ray tracing of a program that has no other stage.
[[nodiscard]] std::optional<trace::ShaderStage> only_stage(const trace::Executable& executable);

/// Spearman's rank correlation: the correlation of ranks, where equal values have the mean of their ranks. None for
/// fewer than three pairs, or where all values of a side are equal. O(n log n).
[[nodiscard]] std::optional<double> rank_correlation(std::span<const double> a, std::span<const double> b);

/// A pipeline on a machine.
struct PipelineOccupancy {
  std::uint32_t pipeline = 0;
  std::vector<std::uint32_t> launches;  ///< of the trace, that used it
  std::size_t executables = 0;          ///< that the driver names
  std::optional<trace::PipelineRegisters> registers;
  std::uint32_t resident_warps = 0;  ///< of an SM; 0: the registers are not known
};

enum class WarpSizeOrigin : std::uint8_t { Given, Captured, Machine };

struct OccupancyWarps {
  std::uint32_t lanes = 0;  ///< of a warp
  WarpSizeOrigin origin = WarpSizeOrigin::Machine;
};

/// `given`: by the user, 0: by nobody. `captured`: the trace's, 0: not known.
[[nodiscard]] OccupancyWarps occupancy_warps(std::uint32_t given, std::uint32_t captured,
                                             const machine::Machine& machine);

/// `launches`: the pipeline of each launch of the trace. `lanes`: of a warp, at least 1. O(statistics + launches ·
/// pipelines).
[[nodiscard]] std::vector<PipelineOccupancy> occupancies(const std::vector<trace::PipelineFacts>& pipelines,
                                                         std::span<const std::uint32_t> launches,
                                                         const machine::Machine& machine, std::uint32_t lanes);

/// A row for each pipeline; cells of what is not known are empty.
[[nodiscard]] output::Table occupancy_table(std::span<const PipelineOccupancy> occupancies);
/// The table, with the machine's limits, the warp size and its origin, and why numbers are missing.
[[nodiscard]] std::string occupancy_text(std::span<const PipelineOccupancy> occupancies,
                                         const machine::Machine& machine, const OccupancyWarps& warps);
[[nodiscard]] nlohmann::ordered_json occupancy_json(std::span<const PipelineOccupancy> occupancies,
                                                    const machine::Machine& machine, const OccupancyWarps& warps);

[[nodiscard]] nlohmann::ordered_json pipelines_json(const std::vector<trace::PipelineFacts>& pipelines);

}  // namespace rayreplay::report
