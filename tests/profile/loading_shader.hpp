// A shader with loads whose names are known, and counts of their values.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <vector>

#include "capture/spirv/module.hpp"
#include "capture/trace/trace.hpp"

namespace rayreplay::test {

inline spirv::Instruction named(spv::Op op, std::initializer_list<spirv::Word> operands, const char* name) {
  spirv::Instruction i(op, operands);
  for (const spirv::Word word : spirv::string_words(name)) {
    i.add(word);
  }
  return i;
}

/// A miss shader with four loads: 3 of an array element of vectors, 5 of a float, 7 of a signed number in push
/// constants, 9 of a number of 64 bits. `names`: the module has names of them.
inline std::vector<std::uint32_t> loading_shader(bool names, spirv::Word generator = 0) {
  using spirv::Instruction;
  using spirv::Word;
  using spv::Op;
  constexpr Word kUint = 2, kInt = 3, kFloat = 4, kVector = 5, kLong = 6, kZero = 7, kOne = 8, kTwo = 9;
  constexpr Word kArray = 10, kTable = 11, kTablePointer = 12, kTableVariable = 13, kPush = 14, kPushPointer = 15,
                 kPushVariable = 16, kVectorPointer = 17, kFloatPointer = 18, kIntPointer = 19, kLongPointer = 20;
  constexpr Word kBuffer = 12, kConstants = 9;  // storage classes
  spirv::Module module{0x00010500, generator, 60, 0, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}};
  module.memory_model = {Instruction(Op::OpMemoryModel, {0, 1})};
  module.entry_points = {named(Op::OpEntryPoint, {static_cast<Word>(spv::ExecutionModel::MissKHR), 1}, "main")};
  if (names) {
    module.debug = {named(Op::OpName, {kTableVariable}, "table"), named(Op::OpMemberName, {kTable, 1}, "colours"),
                    named(Op::OpMemberName, {kTable, 2}, "scale"), named(Op::OpName, {kPush}, "Push"),
                    named(Op::OpMemberName, {kPush, 0}, "level")};
  }
  module.annotations = {
      Instruction(Op::OpDecorate, {kTableVariable, static_cast<Word>(spv::Decoration::DescriptorSet), 0}),
      Instruction(Op::OpDecorate, {kTableVariable, static_cast<Word>(spv::Decoration::Binding), 3})};
  module.globals = {Instruction(Op::OpTypeInt, {kUint, 32, 0}),
                    Instruction(Op::OpTypeInt, {kInt, 32, 1}),
                    Instruction(Op::OpTypeFloat, {kFloat, 32}),
                    Instruction(Op::OpTypeVector, {kVector, kFloat, 3}),
                    Instruction(Op::OpTypeInt, {kLong, 64, 0}),
                    Instruction(Op::OpConstant, {kUint, kZero, 0}),
                    Instruction(Op::OpConstant, {kUint, kOne, 1}),
                    Instruction(Op::OpConstant, {kUint, kTwo, 2}),
                    Instruction(Op::OpTypeRuntimeArray, {kArray, kVector}),
                    Instruction(Op::OpTypeStruct, {kTable, kLong, kArray, kFloat}),
                    Instruction(Op::OpTypePointer, {kTablePointer, kBuffer, kTable}),
                    Instruction(Op::OpVariable, {kTablePointer, kTableVariable, kBuffer}),
                    Instruction(Op::OpTypeStruct, {kPush, kInt}),
                    Instruction(Op::OpTypePointer, {kPushPointer, kConstants, kPush}),
                    Instruction(Op::OpVariable, {kPushPointer, kPushVariable, kConstants}),
                    Instruction(Op::OpTypePointer, {kVectorPointer, kBuffer, kVector}),
                    Instruction(Op::OpTypePointer, {kFloatPointer, kBuffer, kFloat}),
                    Instruction(Op::OpTypePointer, {kIntPointer, kConstants, kInt}),
                    Instruction(Op::OpTypePointer, {kLongPointer, kBuffer, kLong})};
  module.functions.resize(1);
  module.functions[0].body = {Instruction(Op::OpFunction, {21, 1, 0, 22}),
                              Instruction(Op::OpLabel, {30}),
                              Instruction(Op::OpAccessChain, {kVectorPointer, 31, kTableVariable, kOne, 29}),
                              Instruction(Op::OpLoad, {kVector, 32, 31}),
                              Instruction(Op::OpAccessChain, {kFloatPointer, 33, kTableVariable, kTwo}),
                              Instruction(Op::OpLoad, {kFloat, 34, 33}),
                              Instruction(Op::OpAccessChain, {kIntPointer, 35, kPushVariable, kZero}),
                              Instruction(Op::OpLoad, {kInt, 36, 35}),
                              Instruction(Op::OpAccessChain, {kLongPointer, 37, kTableVariable, kZero}),
                              Instruction(Op::OpLoad, {kLong, 38, 37}),
                              Instruction(Op::OpReturn, {}),
                              Instruction(Op::OpFunctionEnd, {})};
  return module.serialise();
}

struct CountedValue {
  std::uint32_t bits;
  std::uint64_t lanes, uniform_groups, most_lanes;
  bool operator==(const CountedValue&) const = default;
};

inline void add_place(trace::ValueCounts& counts, std::uint32_t pipeline, std::uint32_t instruction,
                      std::uint8_t component, std::uint64_t lanes, std::uint64_t groups,
                      const std::vector<CountedValue>& values) {
  for (const CountedValue& value : values) {
    counts.place.push_back(static_cast<std::uint32_t>(counts.size()));
    counts.value.push_back(value.bits);
    counts.value_lanes.push_back(value.lanes);
    counts.uniform_groups.push_back(value.uniform_groups);
    counts.most_lanes.push_back(value.most_lanes);
  }
  counts.pipeline.push_back(pipeline);
  counts.shader.push_back(0);
  counts.function.push_back(0);
  counts.block.push_back(0);
  counts.instruction.push_back(instruction);
  counts.component.push_back(component);
  counts.lanes.push_back(lanes);
  counts.groups.push_back(groups);
}

}  // namespace rayreplay::test
