// Shader costs from SPIR-V modules, from executions of basic blocks and from captured clocks: sources of costs.hpp.
//
// Contract: pure functions of the trace; empty where it lacks the data. SPIR-V is untrusted input.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "capture/trace/trace.hpp"
#include "sim/machine/costs.hpp"

namespace rayreplay::machine {

/// Instructions of a shader's static call tree.
struct SpirvCount {
  double instructions = 0;        ///< at most kMaxIssue
  std::uint32_t trace_calls = 0;  ///< in the same tree
};

/// Each block counts once: loops are ignored. An operation on a vector counts once per component. Instructions that
/// issue nothing (capture/spirv/instruction_class.hpp) do not count, among them loads and stores of variables of
/// storage class Function or Private, also through pointer parameters. Most applications supply unoptimised modules:
/// their counts are 1.0 to 1.3 times those after spirv-opt -O. Empty if the words are no SPIR-V module, end inside an
/// instruction, have no entry point of this name and stage, or are recursive. O(words).
[[nodiscard]] std::optional<SpirvCount> count_spirv(std::span<const std::uint32_t> words, trace::ShaderStage stage,
                                                    const std::string& entry);

/// Instructions of a call of each shader, from the trace's counts of basic blocks: Σ lanes · issue slots over the
/// shader's blocks (those of its entry point and of its callees), divided by its entries; for ray generation by the
/// trace calls that its lanes made. Issue slots of a block as in count_spirv. Below 0: the shader's blocks were not
/// counted, or none ran. Empty: the trace has no counts. Counts are of a shader in a pipeline, over all captured
/// launches, not of a call or launch. The launch's pipelines (profile::of_launch) are taken, each with the weight of
/// its calls. Errors: Input for counts of blocks that a module does not have. O(events + rows + words).
[[nodiscard]] std::vector<double> executed_instructions(const trace::Trace& trace, const trace::Launch& launch);

/// Median nanoseconds from one co-execution group of a warp to the next, by call of the first (index as in
/// Costs::calls); below 0 for calls without any. Empty if the launch has no groups, or no clock (all show the same
/// time). O(events + groups · log groups).
[[nodiscard]] std::vector<double> captured_nanoseconds(const trace::Launch& launch, std::size_t shaders);

}  // namespace rayreplay::machine
