// The rewriting steps: each changes one place of one function, or nothing.
//
// Contract: a step gets a whole module, the function's number, the label of the block whose end it changes, and the
// counts. It returns whether it changed the module, and says in `said` what it did, or why it did nothing. A changed
// module may break SPIR-V's rules of structured control flow. The caller validates it, and goes back if it does. Counts
// of new blocks are added. Linear in the module.
#pragma once

#include <string>

#include "capture/optimise/function_blocks.hpp"

namespace rayreplay::optimise {

struct Place {
  std::size_t function = 0;
  Id label = 0;
};

/// A dead region of fewer issue slots is not worth a function of its own.
inline constexpr std::uint64_t kLeastOutlined = 8;
/// More values are not passed to an outlined region.
inline constexpr std::size_t kMostParameters = 16;
/// Most selector values of a peeled case: each takes a comparison.
inline constexpr std::size_t kMostPeeledValues = 4;

/// A branch to blocks that never ran becomes a branch to the others. Holds for the profile's
/// inputs alone. Ways out of a loop stay. `keep_switch`: a switch with one target left stays a switch, for breaks
/// inside it.
[[nodiscard]] bool prune(Module& module, const Place& place, const Counts& counts, bool keep_switch, std::string& said);

/// The case of a switch that more than half of its executions take is tested first.
[[nodiscard]] bool peel(Module& module, const Place& place, Counts& counts, std::string& said);

/// A region that never ran becomes a function that is not inlined. Exact for all inputs.
[[nodiscard]] bool outline(Module& module, const Place& place, Id target, Counts& counts, std::string& said);

}  // namespace rayreplay::optimise
