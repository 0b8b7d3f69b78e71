// Which words of an instruction are ids that it uses.
//
// Contract: operands only, without result and result type. Literals of the instructions that shaders hold are left out;
// of an instruction that is not known, every operand counts, so that no use is missed. Ids of types and labels are
// among them, but for the labels of OpSwitch.
#pragma once

#include <vector>

#include "capture/spirv/module.hpp"

namespace rayreplay::spirv {

/// Numbers of the words (Instruction::operator[]).
[[nodiscard]] std::vector<std::size_t> id_words(const Instruction& instruction);
[[nodiscard]] std::vector<Id> used_ids(const Instruction& instruction);

}  // namespace rayreplay::spirv
