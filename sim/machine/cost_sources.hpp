// Where costs of shaders come from when nobody gives them by hand (costs.hpp).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "capture/trace/trace.hpp"

namespace rayreplay::machine {

inline constexpr double kMostIssue = 1e6;    ///< of one call
inline constexpr double kMostLatency = 2e8;  ///< of one call

/// Instructions of a shader's static call tree.
struct SpirvCount {
  double instructions = 0;        ///< at most kMostIssue
  std::uint32_t trace_calls = 0;  ///< in the same tree
};

/// Each block counts once, whatever loops it is in; an operation on a vector counts once per component; moves of
/// components, labels, merges, variables, address chains and debug information are no instructions, nor are loads and
/// stores of variables of storage class Function or Private (whole, or a part by constant indices; parameters that
/// point to them included), which every compiler turns into registers. Applications mostly hand over modules that
/// nobody has optimised: so counted, they come to 1.0 to 1.3 times what they are after spirv-opt -O. Nothing if the
/// words are no SPIR-V module, end inside an instruction, have no entry point of this name and stage, or call
/// themselves. O(words).
[[nodiscard]] std::optional<SpirvCount> count_spirv(std::span<const std::uint32_t> words, trace::ShaderStage stage,
                                                    const std::string& entry);

/// Median nanoseconds from one co-execution group of a warp to its next, by call of the first (index as in
/// Costs::calls); below 0 for calls without any. Empty when the launch has no groups, or no clock: all show the same
/// time. O(events + groups · log groups).
[[nodiscard]] std::vector<double> captured_nanoseconds(const trace::Launch& launch, std::size_t shaders);

}  // namespace rayreplay::machine
