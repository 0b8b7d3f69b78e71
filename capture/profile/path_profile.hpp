// Paths of shader calls with their instructions: what each call of a shader executed.
//
// Contract: takes checked paths (trace::load, trace::load_profile); Input names the row of a block that its shader's
// module does not have, or the path whose executions exceed 64 bits. Instructions are those that issue something
// (spirv/instruction_class.hpp). Linear in the paths' counts.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "capture/trace/trace.hpp"

namespace rayreplay::profile {

/// A shader with paths.
struct ShaderPaths {
  std::uint16_t shader = 0;
  std::size_t first = 0, end = 0;           ///< rows of Paths
  std::vector<std::uint32_t> instructions;  ///< in each block of the shader
  std::vector<std::uint32_t> issue_slots;   ///< of these instructions: one for each component
  std::uint64_t calls = 0;                  ///< that have a path
  std::uint64_t taken = 0;                  ///< paths with calls
  std::uint64_t executed = 0;               ///< instructions of all calls
  std::uint64_t least = 0, most = 0;        ///< instructions of a call
  std::uint64_t most_calls = 0;             ///< of the commonest path
};

struct PathProfile {
  std::vector<ShaderPaths> shaders;         ///< by shader
  std::vector<std::uint64_t> first_count;   ///< by path: its first row in Paths::counts
  std::vector<std::uint64_t> instructions;  ///< by path: of a call
};

/// `file` stands for the trace in messages.
[[nodiscard]] PathProfile path_profile(const std::vector<trace::Shader>& shaders, const trace::Paths& paths,
                                       const std::string& file);

}  // namespace rayreplay::profile
