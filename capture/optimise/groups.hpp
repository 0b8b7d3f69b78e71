// Guards that ask all invocations of a group: is the value of the first one everybody's?
//
// Contract: `allows_groups` tells whether the module's version and stages have such operations; the reason is in
// `said`. Fragment shaders have not: their helper invocations do not vote. `vote_on` gives the code, to be put where
// the value is known, and adds the capabilities that it needs. Every invocation compares its own value, so behind a
// vote that all agree `first` is the value of each invocation that is there, whichever meet there.
#pragma once

#include <string>
#include <vector>

#include "capture/optimise/function_blocks.hpp"

namespace rayreplay::optimise {

[[nodiscard]] bool allows_groups(const Module& module, std::string& said);

struct Vote {
  std::vector<Instruction> code;
  Id first = 0;  ///< the first invocation's value
  Id agree = 0;  ///< truth value: all have it
};

/// `type`: of the value, a whole number or a truth value.
[[nodiscard]] Vote vote_on(Module& module, Id value, Id type, bool is_truth);

}  // namespace rayreplay::optimise
