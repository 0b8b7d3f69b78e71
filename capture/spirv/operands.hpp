// Which words of an instruction are ids that it uses.
//
// Contract: operands only, without result and result type. Literals of known instructions are left out. Of an unknown
// instruction every operand counts, so that no use is missed. Ids of types and labels count, except the labels of
// OpSwitch.
#pragma once

#include <vector>

#include "capture/spirv/module.hpp"

namespace rayreplay::spirv {

/// Numbers of the words (Instruction::operator[]).
[[nodiscard]] std::vector<std::size_t> id_words(const Instruction& instruction);
[[nodiscard]] std::vector<Id> used_ids(const Instruction& instruction);

}  // namespace rayreplay::spirv
