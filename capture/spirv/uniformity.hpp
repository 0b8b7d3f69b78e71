// Levels of uniformity by place in the module, from those of the inline view.
//
// Contract: the view may hold several copies of a place: a place has the highest level of its copies. Places that the
// view does not reach have no row. Lists ascend by place.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "capture/spirv/divergence.hpp"

namespace rayreplay::spirv {

/// A branch, a load from memory, or another instruction with a result.
struct UniformityFacts {
  Place place;
  Level level = Level::Launch;    ///< of the condition, or of the result
  Level address = Level::Launch;  ///< of a load
};

struct Uniformity {
  std::vector<UniformityFacts> branches;  ///< with several successors
  std::vector<UniformityFacts> loads;     ///< from memory
  std::vector<UniformityFacts> results;   ///< of every instruction, loads included
  std::uint64_t steps = 0;                ///< of the analysis
};

[[nodiscard]] Uniformity uniformity_of(const Analysed& module, const InlineView& view, const Divergence& levels);

/// Levels in the shader whose entry point has this function (index in Module::functions). Empty, with the reason, where
/// the analyses leave the shader alone.
[[nodiscard]] std::optional<Uniformity> uniformity(const Analysed& module, std::uint32_t function, std::string& reason);

}  // namespace rayreplay::spirv
