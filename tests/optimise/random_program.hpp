// Random compute shaders of whole numbers with structured control flow: branches with and without a second side,
// switches with breaks inside and cases that fall through, loops with breaks and continues, early returns, calls.
//
// A program reads three numbers in storage buffers and writes three others, and may add the invocation's place in its
// workgroup. It is valid SPIR-V 1.3 for Vulkan 1.1.
#pragma once

#include <random>
#include <utility>
#include <vector>

#include "capture/spirv/module.hpp"

namespace rayreplay::test {

class RandomProgram {
 public:
  using Id = spirv::Id;
  using Word = spirv::Word;
  static constexpr std::size_t kBuffers = 3;
  static constexpr Word kElements = 8;

  /// `has_lanes`: each input also depends on the invocation's place in its workgroup, a buffer has
  /// kElements numbers, and a uniform buffer bounds loops.
  explicit RandomProgram(std::uint32_t seed, bool has_lanes = false) : random_(seed), has_lanes_(has_lanes) {}

  [[nodiscard]] spirv::Module make() {
    globals();
    add_function(true);
    add_function(false);
    module_.bound = next_;
    return module_;
  }
  [[nodiscard]] const std::vector<Id>& inputs() const {
    return inputs_;
  }
  [[nodiscard]] const std::vector<Id>& outputs() const {
    return outputs_;
  }
  /// The uniform buffer that bounds loops; 0: none.
  [[nodiscard]] Id bounds() const {
    return bounds_;
  }
  /// The variable with the invocation's place in its workgroup; 0: none.
  [[nodiscard]] Id lane() const {
    return lane_;
  }

 private:
  using Op = spv::Op;
  using Words = std::vector<Word>;

  /// A place that breaks or continues lead to, and the values that they bring.
  struct Exit {
    Id label = 0;
    std::vector<std::pair<Id, Id>> from;  ///< value, block
  };

  Id id() {
    return next_++;
  }
  std::uint32_t below(std::uint32_t n) {
    return static_cast<std::uint32_t>(random_() % n);
  }
  static spirv::Instruction instruction(Op op, const Words& words) {
    return {spirv::number(op), std::span<const Word>(words)};
  }
  void global(Op op, const Words& words) {
    module_.globals.push_back(instruction(op, words));
  }
  void emit(Op op, const Words& words) {
    body_.push_back(instruction(op, words));
  }
  void begin(Id label) {
    emit(Op::OpLabel, {label});
    block_ = label;
    ended_ = false;
  }
  void branch(Id to) {
    emit(Op::OpBranch, {to});
    ended_ = true;
  }
  Id value() {
    if (below(4) == 0 || scope_.empty()) {
      return constants_[below(static_cast<std::uint32_t>(constants_.size()))];
    }
    return scope_[below(static_cast<std::uint32_t>(scope_.size()))];
  }
  Id compute() {
    const Id result = id();
    emit(below(3) == 0 ? Op::OpIMul : Op::OpIAdd, {uint_, result, value(), value()});
    scope_.push_back(result);
    return result;
  }
  Id condition() {
    const Id result = id();
    emit(below(2) == 0 ? Op::OpIEqual : Op::OpULessThan, {bool_, result, small(), value()});
    return result;
  }
  /// A number below 8, so that branches go both ways.
  Id small() {
    const Id result = id();
    emit(Op::OpBitwiseAnd, {uint_, result, value(), seven_});
    scope_.push_back(result);
    return result;
  }
  void access(Id pointer, Id variable, Id index) {
    if (has_lanes_) {
      emit(Op::OpAccessChain, {member_pointer_, pointer, variable, constants_[0], index});
    } else {
      emit(Op::OpAccessChain, {member_pointer_, pointer, variable, constants_[0]});
    }
  }
  Id load(Id variable, bool is_buffer) {
    const Id result = id();
    Id pointer = variable;
    if (is_buffer) {
      pointer = id();
      access(pointer, variable, has_lanes_ && !scope_.empty() ? small() : constants_[0]);
    }
    emit(Op::OpLoad, {uint_, result, pointer});
    scope_.push_back(result);
    return result;
  }
  void globals() {
    const auto literal = [](auto of) { return static_cast<Word>(of); };
    module_.version = 0x00010300;
    module_.capabilities.push_back(instruction(Op::OpCapability, {literal(spv::Capability::Shader)}));
    module_.memory_model.push_back(instruction(Op::OpMemoryModel, {0, literal(spv::MemoryModel::GLSL450)}));
    void_ = id(), uint_ = id(), bool_ = id(), block_type_ = id(), member_pointer_ = id(), function_pointer_ = id();
    main_type_ = id(), called_type_ = id();
    const Id buffer_pointer = id();
    main_ = id(), called_ = id();
    global(Op::OpTypeVoid, {void_});
    global(Op::OpTypeInt, {uint_, 32, 0});
    global(Op::OpTypeBool, {bool_});
    Id member = uint_;
    if (has_lanes_) {
      const Id length = id();
      member = id();
      global(Op::OpConstant, {uint_, length, kElements});
      global(Op::OpTypeArray, {member, uint_, length});
      module_.annotations.push_back(
          instruction(Op::OpDecorate, {member, literal(spv::Decoration::ArrayStride), sizeof(Word)}));
    }
    global(Op::OpTypeStruct, {block_type_, member});
    const Word storage = literal(spv::StorageClass::StorageBuffer);
    global(Op::OpTypePointer, {buffer_pointer, storage, block_type_});
    global(Op::OpTypePointer, {member_pointer_, storage, uint_});
    global(Op::OpTypePointer, {function_pointer_, literal(spv::StorageClass::Function), uint_});
    global(Op::OpTypeFunction, {main_type_, void_});
    global(Op::OpTypeFunction, {called_type_, uint_, uint_});
    for (Word c = 0; c < 8; ++c) {
      constants_.push_back(id());
      global(Op::OpConstant, {uint_, constants_.back(), c});
    }
    seven_ = constants_[7];
    const auto decorate = [&](const Words& words) {
      module_.annotations.push_back(instruction(Op::OpDecorate, words));
    };
    decorate({block_type_, literal(spv::Decoration::Block)});
    module_.annotations.push_back(
        instruction(Op::OpMemberDecorate, {block_type_, 0, literal(spv::Decoration::Offset), 0}));
    for (Word b = 0; b < 2 * kBuffers; ++b) {
      const Id variable = id();
      global(Op::OpVariable, {buffer_pointer, variable, storage});
      decorate({variable, literal(spv::Decoration::DescriptorSet), 0});
      decorate({variable, literal(spv::Decoration::Binding), b});
      (b < kBuffers ? inputs_ : outputs_).push_back(variable);
    }
    const auto name = spirv::string_words("main");
    Words entry = {literal(spv::ExecutionModel::GLCompute), main_};
    entry.insert(entry.end(), name.begin(), name.end());
    if (has_lanes_) {
      const Id pointer = id();
      lane_ = id();
      global(Op::OpTypePointer, {pointer, literal(spv::StorageClass::Input), uint_});
      global(Op::OpVariable, {pointer, lane_, literal(spv::StorageClass::Input)});
      decorate({lane_, literal(spv::Decoration::BuiltIn), literal(spv::BuiltIn::LocalInvocationIndex)});
      entry.push_back(lane_);
      const Id block = id(), whole = id();
      uniform_pointer_ = id(), bounds_ = id();
      global(Op::OpTypeStruct, {block, uint_});
      global(Op::OpTypePointer, {whole, literal(spv::StorageClass::Uniform), block});
      global(Op::OpTypePointer, {uniform_pointer_, literal(spv::StorageClass::Uniform), uint_});
      global(Op::OpVariable, {whole, bounds_, literal(spv::StorageClass::Uniform)});
      decorate({block, literal(spv::Decoration::Block)});
      decorate({bounds_, literal(spv::Decoration::DescriptorSet), 0});
      decorate({bounds_, literal(spv::Decoration::Binding), 2 * kBuffers});
      module_.annotations.push_back(instruction(Op::OpMemberDecorate, {block, 0, literal(spv::Decoration::Offset), 0}));
    }
    module_.entry_points.push_back(instruction(Op::OpEntryPoint, entry));
    module_.execution_modes.push_back(
        instruction(Op::OpExecutionMode, {main_, literal(spv::ExecutionMode::LocalSize), 1, 1, 1}));
  }

  void add_function(bool is_main) {
    body_.clear();
    scope_.clear();
    variables_.clear();
    is_main_ = is_main;
    spirv::Function function;
    const Id parameter = is_main ? 0 : id();
    begin(id());
    for (std::size_t v = 0; v < 2; ++v) {
      variables_.push_back(id());
      locals_.push_back(variables_.back());
    }
    if (is_main) {
      for (const Id input : inputs_) {
        load(input, true);
        if (has_lanes_) {
          const Id from_buffer = scope_.back(), lane = load(lane_, false), sum = id();
          scope_.resize(scope_.size() - 2);
          emit(Op::OpIAdd, {uint_, sum, from_buffer, lane});
          scope_.push_back(sum);
        }
      }
    } else {
      scope_.push_back(parameter);
    }
    for (const Id variable : variables_) {
      emit(Op::OpStore, {variable, value()});
    }
    statements(is_main ? 3 : 2, 5);
    if (!ended_) {
      leave();
    }
    const auto add = [&](Op op, const Words& words) { function.body.push_back(instruction(op, words)); };
    add(Op::OpFunction, {is_main ? void_ : uint_, is_main ? main_ : called_, 0, is_main ? main_type_ : called_type_});
    if (!is_main) {
      add(Op::OpFunctionParameter, {uint_, parameter});
    }
    function.body.push_back(body_.front());
    for (const Id local : locals_) {
      add(Op::OpVariable, {function_pointer_, local, static_cast<Word>(spv::StorageClass::Function)});
    }
    locals_.clear();
    function.body.insert(function.body.end(), body_.begin() + 1, body_.end());
    add(Op::OpFunctionEnd, {});
    module_.functions.push_back(std::move(function));
  }

  /// Returns, with what was computed.
  void leave() {
    if (is_main_) {
      for (std::size_t o = 0; o < kBuffers; ++o) {
        const Id pointer = id(), sum = id();
        const Id local = load(variables_[o % variables_.size()], false), last = value();
        access(pointer, outputs_[o], constants_[0]);
        emit(Op::OpIAdd, {uint_, sum, local, last});
        emit(Op::OpStore, {pointer, sum});
      }
      emit(Op::OpReturn, {});
    } else {
      emit(Op::OpReturnValue, {value()});
    }
    ended_ = true;
  }

  void statements(int depth, std::uint32_t most) {
    const std::uint32_t count = 1 + below(most);
    for (std::uint32_t s = 0; s < count && !ended_; ++s) {
      switch (below(depth > 0 ? 12 : 5)) {
        case 0:
        case 1:
          compute();
          compute();
          break;
        case 2:
          load(variables_[below(2)], false);
          break;
        case 3:
          emit(Op::OpStore, {variables_[below(2)], compute()});
          break;
        case 4:
          if (is_main_) {
            const Id result = id();
            emit(Op::OpFunctionCall, {uint_, result, called_, value()});
            scope_.push_back(result);
          } else {
            compute();
          }
          break;
        case 5:
        case 6:
        case 7:
          choose(depth - 1);
          break;
        case 8:
        case 9:
        case 10:
          select(depth - 1);
          break;
        default:
          repeat(depth - 1);
          break;
      }
    }
  }

  /// The end of a construct: the merge block, with a value joined from where it came.
  void merge(Exit& exit, const std::vector<Id>& scope) {
    scope_ = scope;
    begin(exit.label);
    if (exit.from.empty()) {
      emit(Op::OpUnreachable, {});
      ended_ = true;
      return;
    }
    for (std::uint32_t phis = below(3); phis != 0; --phis) {
      Words words = {uint_, id()};
      scope_.push_back(words[1]);
      for (const auto& [value, block] : exit.from) {
        words.push_back(phis == 2 ? constants_[block % constants_.size()] : value);
        words.push_back(block);
      }
      emit(Op::OpPhi, words);
    }
  }

  /// One side of a branch, which may leave.
  void side(int depth, Exit& exit) {
    const std::vector<Id> scope = scope_;
    statements(depth, 4);
    if (!ended_ && below(5) == 0 && !exits_.empty()) {
      // Breaks lead out of the innermost switch or loop alone.
      Exit& other = *exits_.back();
      other.from.emplace_back(compute(), block_);
      branch(other.label);
    }
    if (!ended_ && below(14) == 0) {
      leave();
    }
    if (!ended_) {
      exit.from.emplace_back(compute(), block_);
      branch(exit.label);
    }
    scope_ = scope;
  }

  void choose(int depth) {
    const Id yes = id(), no = id();
    Exit exit{id(), {}};
    const Id test = condition();
    const bool two = below(2) == 0;
    const std::vector<Id> scope = scope_;
    if (!two) {
      exit.from.emplace_back(value(), block_);
    }
    emit(Op::OpSelectionMerge, {exit.label, 0});
    emit(Op::OpBranchConditional, {test, yes, two ? no : exit.label});
    begin(yes);
    side(depth, exit);
    if (two) {
      begin(no);
      side(depth, exit);
    }
    merge(exit, scope);
  }

  void select(int depth) {
    const std::uint32_t cases = 2 + below(4);
    Exit exit{id(), {}};
    const Id selector = small();
    const std::vector<Id> scope = scope_;
    const bool has_default = below(3) != 0;
    std::vector<Id> labels;
    for (std::uint32_t c = 0; c < cases; ++c) {
      labels.push_back(id());
    }
    const Id standard = has_default ? id() : exit.label;
    if (!has_default) {
      exit.from.emplace_back(value(), block_);
    }
    Words words = {selector, standard};
    // Some cases have several values, some values no case. A case that falls through stands right before the next.
    Word next = 0;
    for (std::uint32_t c = 0; c < cases; ++c) {
      for (std::uint32_t values = below(4) == 0 ? 2 : 1; values != 0; --values) {
        words.push_back(next++);
        words.push_back(labels[c]);
      }
    }
    emit(Op::OpSelectionMerge, {exit.label, 0});
    emit(Op::OpSwitch, words);
    exits_.push_back(&exit);
    for (std::uint32_t c = 0; c < cases; ++c) {
      begin(labels[c]);
      if (below(6) == 0 && c + 1 < cases) {
        compute();
        branch(labels[c + 1]);
        scope_ = scope;
      } else {
        side(depth, exit);
      }
    }
    if (has_default) {
      begin(standard);
      side(depth, exit);
    }
    exits_.pop_back();
    merge(exit, scope);
  }

  void repeat(int depth) {
    const Id header = id(), test = id(), body = id(), next = id(), counter = id(), phi = id(), phi_next = id();
    locals_.push_back(counter);
    Exit exit{id(), {}};
    emit(Op::OpStore, {counter, constants_[0]});
    const Id before = value(), preheader = block_;
    branch(header);
    begin(header);
    emit(Op::OpPhi, {uint_, phi, before, preheader, phi_next, next});
    scope_.push_back(phi);
    const std::vector<Id> scope = scope_;
    emit(Op::OpLoopMerge, {exit.label, next, 0});
    branch(test);
    begin(test);
    const Id count = id(), again = id();
    emit(Op::OpLoad, {uint_, count, counter});
    Id bound = constants_[1 + below(4)];
    if (has_lanes_) {
      const Id pointer = id(), loaded = id();
      bound = id();
      emit(Op::OpAccessChain, {uniform_pointer_, pointer, bounds_, constants_[0]});
      emit(Op::OpLoad, {uint_, loaded, pointer});
      emit(Op::OpBitwiseAnd, {uint_, bound, loaded, constants_[3]});
    }
    emit(Op::OpULessThan, {bool_, again, count, bound});
    emit(Op::OpBranchConditional, {again, body, exit.label});
    exit.from.emplace_back(count, test);
    begin(body);
    Exit on{next, {}};
    exits_.push_back(&exit);
    side(depth, on);
    exits_.pop_back();
    begin(next);
    const Id old = id(), more = id();
    emit(Op::OpIAdd, {uint_, phi_next, phi, constants_[3]});
    emit(Op::OpLoad, {uint_, old, counter});
    emit(Op::OpIAdd, {uint_, more, old, constants_[1]});
    emit(Op::OpStore, {counter, more});
    branch(header);
    merge(exit, scope);
  }

  std::mt19937 random_;
  bool has_lanes_;
  Id lane_ = 0, bounds_ = 0, uniform_pointer_ = 0;
  spirv::Module module_;
  Id next_ = 1;
  Id void_ = 0, uint_ = 0, bool_ = 0, block_type_ = 0, member_pointer_ = 0, function_pointer_ = 0, main_type_ = 0,
     called_type_ = 0, main_ = 0, called_ = 0, seven_ = 0;
  std::vector<Id> constants_, inputs_, outputs_, variables_, locals_, scope_;
  std::vector<spirv::Instruction> body_;
  std::vector<Exit*> exits_;
  Id block_ = 0;
  bool ended_ = false, is_main_ = false;
};

}  // namespace rayreplay::test
