// Modules made instruction by instruction.
#pragma once

#include <string>

#include "capture/spirv/module.hpp"

namespace rayreplay::test {

class ModuleMaker {
 public:
  using Words = std::initializer_list<spirv::Word>;

  ModuleMaker() {
    module_.bound = 100'000;
    module_.memory_model.emplace_back(spv::Op::OpMemoryModel, Words{0, 1});
    global(spv::Op::OpTypeVoid, {kVoid}).global(spv::Op::OpTypeInt, {kUint, 32, 0});
    global(spv::Op::OpTypeBool, {kBool}).global(spv::Op::OpTypeFunction, {kFunctionType, kVoid});
    global(spv::Op::OpTypePointer, {kPointer, 7, kUint});
    global(spv::Op::OpTypePointer, {kInputPointer, 1, kUint});
    global(spv::Op::OpVariable, {kInputPointer, kInput, 1});
    global(spv::Op::OpConstant, {kUint, kZero, 0}).global(spv::Op::OpConstantTrue, {kBool, kTrue});
  }
  ModuleMaker& global(spv::Op op, Words operands) {
    module_.globals.emplace_back(op, operands);
    return *this;
  }
  /// A ray-generation shader named "main".
  ModuleMaker& entry(spirv::Id function) {
    module_.entry_points.emplace_back(spv::Op::OpEntryPoint, Words{5313, function, 0x6E69616D, 0});
    return *this;
  }
  ModuleMaker& function(spirv::Id id) {
    module_.functions.emplace_back();
    return add(spv::Op::OpFunction, {kVoid, id, 0, kFunctionType});
  }
  ModuleMaker& label(spirv::Id id) {
    return add(spv::Op::OpLabel, {id});
  }
  ModuleMaker& add(spv::Op op, Words operands) {
    module_.functions.back().body.emplace_back(op, operands);
    return *this;
  }
  ModuleMaker& add(spirv::Instruction instruction) {
    module_.functions.back().body.push_back(std::move(instruction));
    return *this;
  }
  ModuleMaker& end() {
    return add(spv::Op::OpReturn, {}).add(spv::Op::OpFunctionEnd, {});
  }
  [[nodiscard]] spirv::Module make() const {
    return module_;
  }

  static constexpr spirv::Id kVoid = 1, kUint = 2, kBool = 3, kFunctionType = 4, kPointer = 5, kInputPointer = 6,
                             kInput = 7, kZero = 8, kTrue = 9;  ///< kInput differs between threads

 private:
  spirv::Module module_;
};

}  // namespace rayreplay::test
