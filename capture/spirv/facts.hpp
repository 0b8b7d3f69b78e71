// Facts of each shader of a module, without running it.
//
// Contract: never throws on any module. Blocks, loops and instructions are counted once for each function that the
// entry point reaches. Live state and uniformity come from the inline view, which may hold several copies of a place: a
// place has the highest live state of its copies, and is uniform only if all its copies are. `notes` say what was not
// analysed and why; its numbers are empty. Entry points of a module share a limit of `kMostModuleWork` steps: those
// after the limit are not analysed. Deterministic.
#pragma once

#include <array>
#include <optional>
#include <string>

#include "capture/spirv/uniformity.hpp"

namespace rayreplay::spirv {

inline constexpr std::uint64_t kMostModuleWork = std::uint64_t{1} << 31;

/// Where an instruction stands, for people.
struct SourcePlace {
  Place place;
  std::string function;  ///< its name, or "%12"
  Id block = 0;          ///< label of its block
  std::string file;      ///< empty: the module has no lines
  std::uint32_t line = 0;
};

struct CallFacts {
  CallKind kind = CallKind::Trace;
  SourcePlace at;
  std::uint32_t copies = 0;  ///< inlined copies of the call
  LiveState live;            ///< of the copy with most bytes
  std::uint64_t payload_bytes = 0;
};

struct BlockFacts {
  std::uint32_t function = 0;  ///< index in Module::functions
  Node block = 0;
  std::uint64_t live_in_bytes = 0;  ///< most of its copies
};

struct ShaderFacts {
  std::uint32_t entry_point = 0;  ///< index in Module::entry_points
  Word model = 0;                 ///< execution model
  std::string entry;
  std::vector<std::uint32_t> functions;  ///< reached ones; empty: the entry point has no function, or is past the limit
  bool recursion = false, irreducible = false;
  std::uint64_t blocks = 0, loops = 0;
  std::uint32_t loop_depth = 0;  ///< deepest nest inside a function
  std::array<std::uint64_t, kInstructionClasses> instructions{};
  std::vector<std::pair<std::uint32_t, Node>> unreached_blocks;  ///< of reached functions, without empty merge blocks
  bool has_liveness = false, has_divergence = false;
  std::vector<CallFacts> calls;           ///< by place
  std::vector<UniformityFacts> branches;  ///< by place
  std::vector<UniformityFacts> loads;     ///< by place, from memory
  std::vector<UniformityFacts> results;   ///< by place, of every instruction, loads included
  std::vector<BlockFacts> live_in;        ///< by function and block
  std::vector<std::string> notes;
};

struct ModuleFacts {
  std::vector<ShaderFacts> shaders;             ///< by entry point
  std::vector<std::uint32_t> unused_functions;  ///< that no entry point reaches
};

/// `most_instructions`: see Recomputation.
[[nodiscard]] ModuleFacts facts_of(const Analysed& module, std::uint32_t most_instructions);

/// "main", or "%12" without a name; "(" and what follows it in names of GLSL functions are left out.
[[nodiscard]] std::string function_name(const Analysed& module, std::uint32_t function);

}  // namespace rayreplay::spirv
