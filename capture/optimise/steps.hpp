// The rewriting steps: each changes one place of one function, or nothing.
//
// Contract: a step gets a whole module, the function's number, the label of the block whose end it changes, and the
// counts. It returns whether it changed the module, and says in `said` what it did, or why it did nothing. A changed
// module may break SPIR-V's rules of structured control flow. The caller validates it, and goes back if it does. Counts
// of new blocks are added. Linear in the module.
#pragma once

#include <optional>
#include <string>

#include "capture/optimise/function_blocks.hpp"
#include "capture/optimise/known_values.hpp"

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
/// Most cases of a switch that are tested before it: less than a sixteenth of its executions remain then.
inline constexpr int kMostPeeledCases = 4;

/// A branch to blocks that never ran becomes a branch to the others. Holds for the profile's
/// inputs alone. Ways out of a loop stay. `keep_switch`: a switch with one target left stays a switch, for breaks
/// inside it.
[[nodiscard]] bool prune(Module& module, const Place& place, const Counts& counts, bool keep_switch, std::string& said);

/// The case of a switch that more than half of its executions take is tested first. `rest`: label of the new block with
/// the switch of the other cases, which may be peeled in turn.
[[nodiscard]] bool peel(Module& module, const Place& place, Counts& counts, Id& rest, std::string& said);

/// A region that never ran becomes a function that is not inlined. Exact for all inputs.
[[nodiscard]] bool outline(Module& module, const Place& place, Id target, Counts& counts, std::string& said);

/// Instructions that may still be copied, and what the last copy gave.
struct CopyLimits {
  std::size_t instructions = 0;
  Id held = 0, failed = 0;   ///< labels of the two copies
  double uniform_slots = 0;  ///< executed slots that became the same in all lanes of a group, less those of the guard
};

/// A branch or switch whose condition all lanes of a group agreed on gets a copy with the first lane's value, for
/// groups that agree. `uniform_loads`: results of loads that they agreed on, too. Exact for all inputs.
[[nodiscard]] bool scalarise(Module& module, const Place& place, const std::unordered_set<Id>& uniform_loads,
                             Counts& counts, CopyLimits& limits, std::string& said);

/// A load from a buffer whose address all lanes of a group agreed on is made once for groups that agree, by the first
/// lane's index. Exact for all inputs.
[[nodiscard]] bool scalarise_load(Module& module, std::size_t function_at, Id load, Counts& counts, CopyLimits& limits,
                                  std::string& said);

/// A value of which one component or more was always the same; value 0: the selector of the switch.
struct KnownValue {
  Id value = 0;
  Components bits;
};

/// The value that the selector of a switch had in all executions, from the counts of its cases; none: these do not
/// tell.
[[nodiscard]] std::optional<Word> selector_by_counts(const Module& module, const Place& place, const Counts& counts);

/// The values from which the condition of the block's branch is computed, of those that always stand before it.
[[nodiscard]] std::unordered_set<Id> conditions_of(const Module& module, const Place& place);

/// A branch or switch that follows from a value which was always the same gets a copy for this value, and a guard that
/// compares its bits: those of the components from which something follows. In the copy integers and booleans that
/// follow are constants. Floats stay as they were loaded, since a compiler may compute with a constant otherwise than
/// the device. Exact for all inputs. `keep_switch`: as for `prune`.
[[nodiscard]] bool specialise(Module& module, const Place& place, const KnownValue& value, bool keep_switch,
                              Counts& counts, CopyLimits& limits, std::string& said);

/// A loop in which such a value is loaded from a uniform buffer or a push constant gets a copy for this value. The
/// place is the block that branches to the loop's header. Exact for all inputs, since no shader writes this memory.
[[nodiscard]] bool specialise_loop(Module& module, const Place& place, const KnownValue& value, Counts& counts,
                                   CopyLimits& limits, std::string& said);

}  // namespace rayreplay::optimise
