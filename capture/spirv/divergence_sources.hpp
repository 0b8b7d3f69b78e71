// The level of an operation's result by the kind of the operation, before its operands.
#pragma once

#include "capture/spirv/divergence.hpp"

namespace rayreplay::spirv {

/// How an operation makes its result from its operands.
struct ResultRule {
  Level least = Level::Launch;  ///< the result has this level or a higher one
  bool operands = true;         ///< and that of its operands; false: `least` alone
};
[[nodiscard]] ResultRule result_rule(const Operation& operation, const Instruction& i, const Analysed& module);

}  // namespace rayreplay::spirv
