// Guards by a subgroup vote: do all active invocations have the value of the first one?
//
// Contract: `allows_groups` tells whether the module's version and stages have such votes; if not, `said` has the
// reason. Fragment shaders have none, because their helper invocations may not vote. `vote_on` gives the code, to be
// put where the value is known, and adds the capabilities that it needs. Every invocation compares its own value. So
// if the vote holds, `first` is the value of each invocation that runs the code after it, whichever invocations are
// active together.
#pragma once

#include <string>
#include <vector>

#include "capture/optimise/function_blocks.hpp"

namespace rayreplay::optimise {

[[nodiscard]] bool allows_groups(const Module& module, std::string& said);

struct Vote {
  std::vector<Instruction> code;
  Id first = 0;  ///< the first invocation's value
  Id agree = 0;  ///< boolean: all have it
};

/// `type`: of the value, an integer or a boolean (`is_truth`).
[[nodiscard]] Vote vote_on(Module& module, Id value, Id type, bool is_truth);

}  // namespace rayreplay::optimise
