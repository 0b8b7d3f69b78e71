// Runs a compute shader of whole numbers, block by block: what the tests of rewritten modules compare.
//
// Knows the instructions that random_program.hpp and the rewriting emit, and fails on all others. A variable is one
// number or one array; an access chain is its variable, or an element. Bounded: a program that takes too many steps
// fails.
//
// Other invocations of the group are made up: a broadcast gives the invocation's own value or another one, and a vote
// of all may fail where the invocation agrees. A guard has to be right for all of them.
#pragma once

#include <map>
#include <optional>
#include <random>
#include <set>
#include <stdexcept>
#include <string>
#include <unordered_map>

#include "capture/spirv/control_flow.hpp"

namespace rayreplay::test {

class Interpreter {
 public:
  using Word = spirv::Word;
  using Id = spirv::Id;

  explicit Interpreter(const spirv::Module& module) : module_(module) {
    for (const auto& i : module.globals) {
      if (i.is(spv::Op::OpConstant)) {
        constants_[i[2]] = i[3];
      } else if (i.is(spv::Op::OpTypeBool)) {
        truths_.insert(i[1]);
      } else if (i.is(spv::Op::OpUndef)) {
        constants_[i[2]] = 0xDEAD;
      } else if (i.is(spv::Op::OpConstantTrue) || i.is(spv::Op::OpConstantFalse)) {
        constants_[i[2]] = i.is(spv::Op::OpConstantTrue) ? 1 : 0;
      }
    }
    for (const auto& function : module.functions) {
      for (std::size_t at = 0; at < function.body.size(); ++at) {
        if (function.body[at].is(spv::Op::OpLabel)) {
          places_[function.body[at][1]] = {&function, at};
        }
      }
      functions_[function.id()] = &function;
    }
  }

  /// Makes up other invocations from now on; without it the group has one.
  void join_others(std::uint32_t seed) {
    others_.emplace(seed);
  }
  /// Values that each load gave, by result.
  [[nodiscard]] const std::map<Id, std::set<Word>>& loaded() const {
    return loaded_;
  }

  /// The key of an array's element in memory; that of element 0 is the variable.
  [[nodiscard]] static Id element(Id variable, Word index) {
    constexpr Word kBitsOfVariable = 20;
    return variable + (index << kBitsOfVariable);
  }

  /// Memory by variable; executions are added to `counts`, by label.
  void run(std::map<Id, Word>& memory, std::map<Id, std::uint64_t>& counts) {
    memory_ = &memory;
    counts_ = &counts;
    steps_ = 0;
    call(module_.entry_points.front()[2], {});
  }

 private:
  /// Another invocation decides: in one of three cases.
  bool other() {
    return others_ && (*others_)() % 3 == 0;
  }
  using Values = std::unordered_map<Id, Word>;

  Word call(Id id, const std::vector<Word>& arguments) {
    const spirv::Function& function = *functions_.at(id);
    Values values;
    std::unordered_map<Id, Id> pointers;  // access chains and parameters: the variable
    std::size_t at = 1, argument = 0;
    for (; function.body[at].is(spv::Op::OpFunctionParameter); ++at) {
      // A pointer is passed as its variable's id.
      values[function.body[at][2]] = arguments.at(argument);
      pointers[function.body[at][2]] = arguments.at(argument++);
    }
    const auto value = [&](Id of) {
      const auto constant = constants_.find(of);
      return constant != constants_.end() ? constant->second : values.at(of);
    };
    const auto variable = [&](Id of) {
      const auto found = pointers.find(of);
      return found == pointers.end() ? of : found->second;
    };
    Id from = 0, label = 0;
    const auto go = [&](Id to) {
      from = label;
      at = places_.at(to).second;
    };
    Values joined;
    for (;;) {
      if (++steps_ > 200000) {
        throw std::runtime_error("the program does not end");
      }
      const spirv::Instruction& i = function.body.at(at++);
      switch (static_cast<spv::Op>(i.op())) {
        case spv::Op::OpLabel:
          label = i[1];
          ++(*counts_)[label];
          // All OpPhi of a block read the values of the block before.
          joined = values;
          break;
        case spv::Op::OpPhi: {
          bool known = false;
          for (std::size_t pair = 3; pair + 1 < i.size(); pair += 2) {
            if (i[pair + 1] == from) {
              const auto constant = constants_.find(i[pair]);
              values[i[2]] = constant != constants_.end() ? constant->second : joined.at(i[pair]);
              known = true;
            }
          }
          if (!known) {
            throw std::runtime_error("OpPhi has no value for the block before");
          }
          break;
        }
        case spv::Op::OpVariable:
          (*memory_)[i[2]] = 0;
          break;
        case spv::Op::OpAccessChain:
          pointers[i[2]] = i.size() > 5 ? element(variable(i[3]), value(i[5])) : variable(i[3]);
          break;
        case spv::Op::OpLoad:
          values[i[2]] = (*memory_)[variable(i[3])];
          loaded_[i[2]].insert(values[i[2]]);
          break;
        case spv::Op::OpStore:
          (*memory_)[variable(i[1])] = value(i[2]);
          break;
        case spv::Op::OpIAdd:
          values[i[2]] = value(i[3]) + value(i[4]);
          break;
        case spv::Op::OpIMul:
          values[i[2]] = value(i[3]) * value(i[4]);
          break;
        case spv::Op::OpBitwiseAnd:
          values[i[2]] = value(i[3]) & value(i[4]);
          break;
        case spv::Op::OpIEqual:
          values[i[2]] = value(i[3]) == value(i[4]) ? 1 : 0;
          break;
        case spv::Op::OpULessThan:
          values[i[2]] = value(i[3]) < value(i[4]) ? 1 : 0;
          break;
        case spv::Op::OpLogicalOr:
          values[i[2]] = value(i[3]) | value(i[4]);
          break;
        case spv::Op::OpLogicalEqual:
          values[i[2]] = value(i[3]) == value(i[4]) ? 1 : 0;
          break;
        case spv::Op::OpGroupNonUniformBroadcastFirst: {
          const bool is_truth = truths_.contains(i[1]);
          values[i[2]] = other() ? (is_truth ? 1 - value(i[4]) : static_cast<Word>((*others_)() % 9)) : value(i[4]);
          break;
        }
        case spv::Op::OpGroupNonUniformAll:
          values[i[2]] = other() ? 0 : value(i[4]);
          break;
        case spv::Op::OpSelectionMerge:
        case spv::Op::OpLoopMerge:
          break;
        case spv::Op::OpBranch:
          go(i[1]);
          break;
        case spv::Op::OpBranchConditional:
          go(value(i[1]) != 0 ? i[2] : i[3]);
          break;
        case spv::Op::OpSwitch: {
          Id to = i[2];
          for (std::size_t word = 3; word + 1 < i.size(); word += 2) {
            to = i[word] == value(i[1]) ? i[word + 1] : to;
          }
          go(to);
          break;
        }
        case spv::Op::OpFunctionCall: {
          std::vector<Word> passed;
          for (std::size_t word = 4; word < i.size(); ++word) {
            const bool is_value = values.contains(i[word]) && !pointers.contains(i[word]);
            passed.push_back(is_value || constants_.contains(i[word]) ? value(i[word]) : variable(i[word]));
          }
          values[i[2]] = call(i[3], passed);
          break;
        }
        case spv::Op::OpReturn:
          return 0;
        case spv::Op::OpReturnValue:
          return value(i[1]);
        default:
          throw std::runtime_error("the interpreter does not know opcode " + std::to_string(i.op()));
      }
    }
  }

  const spirv::Module& module_;
  std::optional<std::mt19937> others_;
  std::map<Id, std::set<Word>> loaded_;
  std::set<Id> truths_;  ///< types of truth values
  Values constants_;
  std::unordered_map<Id, std::pair<const spirv::Function*, std::size_t>> places_;
  std::unordered_map<Id, const spirv::Function*> functions_;
  std::map<Id, Word>* memory_ = nullptr;
  std::map<Id, std::uint64_t>* counts_ = nullptr;
  std::size_t steps_ = 0;
};

}  // namespace rayreplay::test
