// Rewrites a module by its executions: moves code that never ran aside, and tests the hottest case first.
//
// Contract: `optimise` takes any words, the executions of its blocks, and what else the run observed. The result
// computes what the module computes, bit for bit: for all inputs in the exact form, and for inputs that take the
// profile's paths with `assume_profile`, which removes blocks that never ran. Entry points with their interfaces,
// specialisation constants and bindings stay. The module that comes out is valid by SPIRV-Tools: where all steps
// together are not, each is validated by itself, and undone where its result is not valid. A module that the validator
// refuses, or in which nothing was changed, has no words, and `why` says so. Deterministic. O(steps · words).
//
// Instructions and issue slots are those of spirv/instruction_class.hpp, without unconditional branches. A switch
// counts as a balanced tree of its values: a comparison and a branch, two slots, on each level.
//
// Slots saved by the steps that were done add up to slots_before - slots_after. A step has the difference of the slots
// before and after it; "specialise" also has what "simplify" can remove because of it, and "simplify", which comes
// last, has the rest of what its passes remove.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "capture/spirv/words.hpp"

namespace rayreplay::optimise {

/// Executions of one block.
struct BlockExecutions {
  std::uint32_t function = 0, block = 0;  ///< places in the module and in the function
  std::uint64_t lanes = 0;
};

/// A branch, switch or load whose condition, selector or value all lanes of a group agreed on whenever it ran.
struct UniformPlace {
  std::uint32_t function = 0, instruction = 0;  ///< places in the module and in the function, from 0: OpFunction
  bool address = false;                         ///< of a load: they agreed on the address
};

/// A load of a 32-bit number, or of a vector of them, of which this component had these bits whenever it ran.
struct ConstantLoad {
  std::uint32_t function = 0, instruction = 0;
  spirv::Word bits = 0;
  std::uint32_t component = 0;
};

/// Observations of a run besides executions. Places that the module does not have are left out.
struct Observations {
  std::span<const UniformPlace> uniform;
  std::span<const ConstantLoad> constants;
};

struct Wishes {
  bool assume_profile = false;
  bool outline = false;        ///< code that never ran becomes functions; not with assume_profile
  bool scalar = false;         ///< branches and loads that groups agreed on become scalar, behind a guard
  bool validate_each = false;  ///< every step by itself, also where all together are valid: slow
};

struct Step {
  std::string kind;  ///< "prune", "peel", "outline", "scalar", "scalar load", "specialise", "simplify"
  std::uint32_t function = 0;
  std::uint32_t label = 0;         ///< of the block that branches; 0: the whole module
  std::uint32_t guard_failed = 0;  ///< label of the block that runs where the step's guard fails; 0: no guard
  bool done = false;
  std::string text;               ///< what was done, or why not
  double slots_saved = 0;         ///< expected: executed issue slots in the profile, by lanes; less than 0: more slots
  double slots_made_uniform = 0;  ///< expected: executed slots that are the same for all lanes of a group now
};

struct Optimised {
  std::vector<spirv::Word> words;  ///< empty: nothing to replace
  std::string why;                 ///< of no words
  std::vector<Step> steps;
  std::uint64_t instructions_before = 0, instructions_after = 0;  ///< in the code, that issue something
  double slots_before = 0, slots_after = 0;                       ///< executed in the profile, by lanes
};

[[nodiscard]] Optimised optimise(std::span<const spirv::Word> words, std::span<const BlockExecutions> executions,
                                 const Wishes& wishes, const Observations& observations = {});

}  // namespace rayreplay::optimise
