// The words of a shader whose blocks are known.
#pragma once

#include <cstdint>
#include <vector>

#include "capture/spirv/module.hpp"

namespace rayreplay::test {

/// A miss shader. main: block 0 (two instructions) branches to 1 (four) or to 2 (one), both go to 3 (one); a second
/// function without a name.
[[nodiscard]] inline std::vector<std::uint32_t> branching_shader() {
  using spirv::Instruction;
  using spv::Op;
  spirv::Module module{0x00010400, 0, 40, 0, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}};
  module.memory_model = {Instruction(Op::OpMemoryModel, {0, 1})};
  Instruction entry(Op::OpEntryPoint, {static_cast<spirv::Word>(spv::ExecutionModel::MissKHR), 1});
  for (const spirv::Word word : spirv::string_words("main")) {
    entry.add(word);
  }
  module.entry_points = {entry};
  Instruction name(Op::OpName, {1});
  for (const spirv::Word word : spirv::string_words("main(")) {
    name.add(word);
  }
  module.debug = {name};
  const Instruction load(Op::OpLoad, {3, 30, 31});
  const Instruction line(Op::OpLine, {5, 1, 1});
  module.functions.resize(2);
  module.functions[0].body = {Instruction(Op::OpFunction, {2, 1, 0, 4}),
                              Instruction(Op::OpLabel, {10}),
                              Instruction(Op::OpVariable, {6, 32, 7}),
                              line,
                              load,
                              Instruction(Op::OpSelectionMerge, {13, 0}),
                              Instruction(Op::OpBranchConditional, {30, 11, 12}),
                              Instruction(Op::OpLabel, {11}),
                              load,
                              load,
                              line,
                              load,
                              Instruction(Op::OpBranch, {13}),
                              Instruction(Op::OpLabel, {12}),
                              Instruction(Op::OpBranch, {13}),
                              Instruction(Op::OpLabel, {13}),
                              Instruction(Op::OpReturn, {}),
                              Instruction(Op::OpFunctionEnd, {})};
  module.functions[1].body = {Instruction(Op::OpFunction, {2, 20, 0, 4}), Instruction(Op::OpLabel, {21}),
                              Instruction(Op::OpReturn, {}), Instruction(Op::OpFunctionEnd, {})};
  return module.serialise();
}

}  // namespace rayreplay::test
