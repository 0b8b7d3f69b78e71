// The driver's facts of a trace's pipelines, by shader and as JSON.
//
// Contract: facts are those of a checked trace. A shader's stack sizes are those of all groups that hold it. Its
// registers are those of executables with its stage in the pipelines with such a group, because an executable names
// stages, not shaders. They are known from two statistics alone, whose meaning we know:
// "Register Count" (NVIDIA) and "VGPRs" (AMD): registers of a thread. All other statistics are given as the
// driver gives them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "capture/trace/trace.hpp"

namespace rayreplay::report {

struct LeastAndMost {
  std::uint64_t least = 0, most = 0;
};

struct ShaderDriverFacts {
  std::optional<LeastAndMost> stack_bytes;
  std::optional<LeastAndMost> registers;  ///< of a thread
};

/// Whether the statistic is a thread's registers.
[[nodiscard]] bool counts_registers(const trace::Statistic& statistic);

/// A row for each stage of `stages`, which are those of the trace's shaders. O(groups + shaders · statistics).
[[nodiscard]] std::vector<ShaderDriverFacts> driver_facts(const std::vector<trace::PipelineFacts>& pipelines,
                                                          const std::vector<trace::ShaderStage>& stages);

/// Spearman's rank correlation: the correlation of ranks, where equal values have the mean of their ranks. None for
/// fewer than three pairs, or where all values of a side are equal. O(n log n).
[[nodiscard]] std::optional<double> rank_correlation(std::span<const double> a, std::span<const double> b);

[[nodiscard]] nlohmann::ordered_json pipelines_json(const std::vector<trace::PipelineFacts>& pipelines);

}  // namespace rayreplay::report
