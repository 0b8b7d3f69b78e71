#include "capture/block_counts/instruction_count.hpp"

namespace rayreplay::block_counts {

using spirv::Instruction;
using spv::Op;

InstructionCount::InstructionCount(const spirv::Module& module) {
  for (const Instruction& import : module.imports) {
    const std::string name = import.string(2);
    if (name.starts_with("NonSemantic.") || name == "OpenCL.DebugInfo.100") {
      debug_sets_.insert(import[1]);
    }
  }
}

std::uint32_t InstructionCount::of(const spirv::Function& function, const spirv::Block& block) const {
  std::uint32_t count = 0;
  for (std::size_t at = block.first; at <= block.last; ++at) {
    const Instruction& i = function.body[at];
    switch (static_cast<Op>(i.op())) {
      case Op::OpLabel:
      case Op::OpVariable:
      case Op::OpUndef:
      case Op::OpLine:
      case Op::OpNoLine:
      case Op::OpNop:
      case Op::OpSelectionMerge:
      case Op::OpLoopMerge:
        break;
      case Op::OpExtInst:
        count += debug_sets_.contains(i[3]) ? 0U : 1U;
        break;
      default:
        ++count;
    }
  }
  return count;
}

}  // namespace rayreplay::block_counts
