// Profiles of a trace's shaders: counts of basic blocks with their instructions, and sums of each shader of each
// pipeline.
//
// Contract: `shader_profiles` takes checked counts (trace::load, trace::load_profile); Input names the row of a block
// that its shader's module does not have. Shaders are in the order of the rows. Linear in rows and modules.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "capture/trace/trace.hpp"

namespace rayreplay::profile {

/// A block that ran in fewer than one of so many entries of its shader is unused.
inline constexpr std::uint64_t kEntriesOfUnused = 100'000;

struct BlockProfile {
  std::uint32_t function = 0, block = 0;  ///< places in the module and in the function
  std::string function_name;              ///< of the debug information; or "%12"
  std::uint32_t label = 0;                ///< id
  std::uint32_t loop_depth = 0;
  std::uint32_t instructions = 0;  ///< that issue something (spirv/instruction_class.hpp)
  std::uint32_t issue_slots = 0;   ///< of these instructions: one for each component
  std::uint32_t trace_calls = 0;
  std::uint64_t lanes = 0;
  std::optional<std::uint64_t> groups;
  bool unused = false;
};

struct ShaderProfile {
  std::uint32_t pipeline = 0;
  std::uint16_t shader = 0;
  std::uint64_t entries = 0;  ///< lanes that entered the entry point's function
  std::vector<BlockProfile> blocks;
  std::uint64_t unused_blocks = 0;
  std::uint64_t instructions = 0, unused_instructions = 0;  ///< in the code
  double lane_instructions = 0;                             ///< executed: Σ lanes · instructions
  double lane_issue_slots = 0, lane_trace_calls = 0;        ///< executed
  std::optional<double> group_instructions;                 ///< Σ groups · instructions
  std::optional<double> efficiency;                         ///< instruction_efficiency of this shader
};

/// SIMT efficiency by instruction of several shaders: Σ lanes · instructions ÷ (warp size · Σ groups · instructions).
/// None without groups, a warp size, or executions.
[[nodiscard]] std::optional<double> instruction_efficiency(std::span<const ShaderProfile> shaders,
                                                           std::uint32_t warp_size);

/// Counts of blocks, and the shaders that have these blocks.
struct CountedShaders {
  std::span<const trace::Shader> shaders;
  const trace::BlockCounts& counts;
  std::uint32_t warp_size = 0;
  const char* group = "/profile/blocks";  ///< of the file, for messages
};
/// `file` stands for the trace in messages.
[[nodiscard]] std::vector<ShaderProfile> shader_profiles(const CountedShaders& counted, const std::string& file);

/// The profiles of pipelines that may have run the launch: those in which all shaders that the launch calls ran, as far
/// as their blocks were counted. All profiles, if no pipeline did. O(events + profiles · shaders).
[[nodiscard]] std::vector<ShaderProfile> of_launch(std::vector<ShaderProfile> profiles, const trace::Launch& launch);

}  // namespace rayreplay::profile
