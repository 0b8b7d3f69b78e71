// Which values, branches and loads of a shader are uniform: equal in all threads that execute them together.
//
// The rules are in docs/shaders.md. In short: a value has one of three levels. Launch: equal in every thread of the
// launch, at all times. Group: equal in the threads that execute the instruction together. Divergent: may differ.
// Sources of divergence are the launch id, payloads, attributes and other inputs of a thread, results of queries and
// atomics. An operation has the highest level of its operands. A join of paths that a divergent branch separates is
// divergent (control dependence), and so is a value that leaves a loop which threads leave at different times. A call
// of a shader may regroup threads, so a value of level Group is Divergent across it.
//
// Contract: sound for programs without undefined behaviour whose threads part at a branch and meet again no later than
// its immediate post-dominator, or never. Unknown instructions are Divergent. The result is empty, with the
// reason, for irreducible control flow, for threads that may meet again in another round of an outer loop, and beyond
// the limits of steps (`kMostDivergenceSteps`), depth of loops and parts of variables. Joins of disjoint paths come
// from labels that are propagated in reverse postorder, as in Rosemann, Moll and Hack, "An Abstract Interpretation for
// SPMD Divergence on Reducible Control Flow Graphs" (POPL 2021).
#pragma once

#include <optional>
#include <string>

#include "capture/spirv/liveness.hpp"

namespace rayreplay::spirv {

inline constexpr std::uint64_t kMostDivergenceSteps = std::uint64_t{1} << 29;

/// The reason of an analysis that reached its limit of steps.
inline constexpr const char* kTooMuchWork = "more work than the analysis takes on";

enum class Level : std::uint8_t { Launch, Group, Divergent };

struct Divergence {
  std::vector<Level> values;     ///< by value; a use outside a loop that threads leave at different times may diverge
  std::vector<Level> decisions;  ///< by block: of the condition that its last operation branches on
  std::vector<Level> addresses;  ///< by operation: of the values that choose its place
  std::vector<Level> results;    ///< by operation: of its result, where it is made
  std::uint64_t steps = 0;       ///< that it took
};

[[nodiscard]] std::optional<Divergence> divergence(const InlineView& view, const Analysed& module, const Liveness& live,
                                                   std::string& reason);

}  // namespace rayreplay::spirv
