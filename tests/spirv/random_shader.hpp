// Random compute-like functions in SPIR-V: values that depend on the thread or not, joins, variables and branches.
//
// Numbers are 32 bits wide; truth values come from comparisons. Control flow is a random reducible graph.
#pragma once

#include "capture/spirv/control_flow.hpp"
#include "tests/spirv/random_graph.hpp"

namespace rayreplay::test {

/// Ids of what every random function shares.
enum SharedId : spirv::Id {
  kVoidType = 1,
  kUintType,
  kBoolType,
  kInputPointer,
  kPushPointer,
  kBufferPointer,
  kFunctionPointer,
  kPrivatePointer,
  kThreadInput,    ///< an input without a built-in: differs between threads
  kPushed,         ///< a push constant
  kBuffer,         ///< an array in a storage buffer
  kPrivate,        ///< a variable
  kFirstConstant,  ///< four constants: 0 to 3
  kFunctionId = kFirstConstant + 4,
  kFunctionType,
  kArrayType,
  kBufferArrayPointer,
  kFirstFree,
};

class RandomShader {
 public:
  explicit RandomShader(std::mt19937& random) : random_(random) {
    do {
      // The entry is a node of its own, because nothing may branch to it; so is the one exit, where threads meet again.
      const spirv::Graph body = random_graph(random_, 10);
      const auto exit = static_cast<spirv::Node>(body.size() + 1);
      graph_ = spirv::Graph(exit + 1);
      graph_.connect(0, 1);
      for (spirv::Node v = 0; v < body.size(); ++v) {
        if (body.successors[v].empty()) {
          graph_.connect(v + 1, exit);
        }
        for (const spirv::Node to : body.successors[v]) {
          graph_.connect(v + 1, to + 1);
        }
      }
      flow_ = spirv::control_flow(graph_);
    } while (flow_.loops.irreducible || flow_.order.size() < 5);
  }

  spirv::Module make() {
    globals();
    // All ids come first, because joins may use values that are defined later.
    const std::size_t blocks = graph_.size();
    values_.resize(blocks);
    for (std::size_t b = 0; b < blocks; ++b) {
      labels_.push_back(next_id_++);
    }
    for (std::size_t b = 0; b < blocks; ++b) {
      for (std::size_t n = 0; n < 1 + random_() % 4; ++n) {
        values_[b].push_back(next_id_++);
      }
    }
    add(spv::Op::OpFunction, {kVoidType, kFunctionId, 0, kFunctionType});
    for (spirv::Node b = 0; b < blocks; ++b) {
      add_block(b);
    }
    add(spv::Op::OpFunctionEnd, {});
    module_.functions.push_back(std::move(function_));
    module_.entry_points.emplace_back(spv::Op::OpEntryPoint,
                                      std::initializer_list<spirv::Word>{5313, kFunctionId, 0x6E69616D, 0});
    module_.bound = next_id_;
    return std::move(module_);
  }

 private:
  void global(spv::Op op, std::initializer_list<spirv::Word> operands) {
    module_.globals.emplace_back(op, operands);
  }
  void add(spv::Op op, std::initializer_list<spirv::Word> operands) {
    function_.body.emplace_back(op, operands);
  }

  void globals() {
    using spv::Op;
    using spv::StorageClass;
    const auto word = [](StorageClass storage) { return static_cast<spirv::Word>(storage); };
    global(Op::OpTypeVoid, {kVoidType});
    global(Op::OpTypeInt, {kUintType, 32, 0});
    global(Op::OpTypeBool, {kBoolType});
    global(Op::OpTypeRuntimeArray, {kArrayType, kUintType});
    global(Op::OpTypePointer, {kInputPointer, word(StorageClass::Input), kUintType});
    global(Op::OpTypePointer, {kPushPointer, word(StorageClass::PushConstant), kUintType});
    global(Op::OpTypePointer, {kBufferPointer, word(StorageClass::StorageBuffer), kUintType});
    global(Op::OpTypePointer, {kBufferArrayPointer, word(StorageClass::StorageBuffer), kArrayType});
    global(Op::OpTypePointer, {kFunctionPointer, word(StorageClass::Function), kUintType});
    global(Op::OpTypePointer, {kPrivatePointer, word(StorageClass::Private), kUintType});
    global(Op::OpTypeFunction, {kFunctionType, kVoidType});
    for (spirv::Word c = 0; c < 4; ++c) {
      global(Op::OpConstant, {kUintType, kFirstConstant + c, c});
    }
    global(Op::OpVariable, {kInputPointer, kThreadInput, word(StorageClass::Input)});
    global(Op::OpVariable, {kPushPointer, kPushed, word(StorageClass::PushConstant)});
    global(Op::OpVariable, {kBufferArrayPointer, kBuffer, word(StorageClass::StorageBuffer)});
    global(Op::OpVariable, {kPrivatePointer, kPrivate, word(StorageClass::Private), kFirstConstant});
  }

  /// A number that is defined at a place: a constant, or a value of a block that dominates it.
  spirv::Id operand(spirv::Node block, std::size_t before) {
    std::vector<spirv::Id> choice;
    for (spirv::Word c = 0; c < 4; ++c) {
      choice.push_back(kFirstConstant + c);
    }
    for (spirv::Node b = 0; b < graph_.size(); ++b) {
      const bool here = b == block;
      if (!here && !flow_.dominators.dominates(b, block)) {
        continue;
      }
      for (std::size_t n = 0; n < (here ? before : values_[b].size()); ++n) {
        choice.insert(choice.end(), 2, values_[b][n]);
      }
    }
    return choice[random_() % choice.size()];
  }

  void add_value(spirv::Node block, std::size_t n, bool may_join) {
    using spv::Op;
    const spirv::Id id = values_[block][n];
    const std::vector<spirv::Node>& from = graph_.predecessors[block];
    const auto any = [&] { return operand(block, n); };
    if (may_join && random_() % 3 != 0) {
      spirv::Instruction phi(Op::OpPhi, {kUintType, id});
      for (const spirv::Node b : from) {
        phi.add(operand(b, values_[b].size()));
        phi.add(labels_[b]);
      }
      function_.body.push_back(std::move(phi));
      joining_ = true;
      return;
    }
    joining_ = false;
    switch (random_() % 11) {
      case 0:
        return add(Op::OpLoad, {kUintType, id, kThreadInput});
      case 1:
        return add(Op::OpLoad, {kUintType, id, kPushed});
      case 2: {
        const spirv::Id pointer = next_id_++;
        add(Op::OpAccessChain, {kBufferPointer, pointer, kBuffer, any()});
        return add(Op::OpLoad, {kUintType, id, pointer});
      }
      case 3:
      case 4:
        return add(Op::OpLoad, {kUintType, id, kPrivate});
      case 5:
      case 6:
        add(Op::OpStore, {kPrivate, any()});
        return add(Op::OpIAdd, {kUintType, id, any(), any()});
      case 7:
        return add(Op::OpIMul, {kUintType, id, any(), any()});
      default:
        return add(Op::OpIAdd, {kUintType, id, any(), any()});
    }
  }

  void add_block(spirv::Node block) {
    using spv::Op;
    add(Op::OpLabel, {labels_[block]});
    bool may_join = !graph_.predecessors[block].empty();
    for (std::size_t n = 0; n < values_[block].size(); ++n) {
      add_value(block, n, may_join);
      may_join = joining_;
    }
    const std::vector<spirv::Node>& to = graph_.successors[block];
    const auto any = [&] { return operand(block, values_[block].size()); };
    if (to.empty()) {
      add(Op::OpReturn, {});
    } else if (to.size() == 1) {
      add(Op::OpBranch, {labels_[to[0]]});
    } else if (to.size() == 2) {
      const spirv::Id condition = next_id_++;
      add(random_() % 2 == 0 ? Op::OpULessThan : Op::OpIEqual, {kBoolType, condition, any(), any()});
      add(Op::OpBranchConditional, {condition, labels_[to[0]], labels_[to[1]]});
    } else {
      add(Op::OpSwitch, {any(), labels_[to[0]], 1, labels_[to[1]], 2, labels_[to[2]]});
    }
  }

  std::mt19937& random_;
  spirv::Graph graph_;
  spirv::ControlFlow flow_;
  spirv::Module module_;
  spirv::Function function_;
  std::vector<spirv::Id> labels_;
  std::vector<std::vector<spirv::Id>> values_;  ///< by block
  spirv::Id next_id_ = kFirstFree;
  bool joining_ = false;
};

}  // namespace rayreplay::test
