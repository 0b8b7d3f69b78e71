#include <algorithm>

#include "capture/optimise/guarded_copy.hpp"
#include "capture/optimise/value_slice.hpp"
#include "capture/spirv/operands.hpp"

namespace rayreplay::optimise {
namespace {

using spv::Op;

/// The target of a branch or switch whose condition or selector is known.
Id target_of(const Instruction& end, Word value) {
  if (end.is(Op::OpBranchConditional)) {
    return value != 0 ? end[2] : end[3];
  }
  for (std::size_t at = 3; at + 1 < end.size(); at += 2) {
    if (end[at] == value) {
      return end[at + 1];
    }
  }
  return end[2];
}

bool fits(const GuardedRegion& region, const CopyLimits& limits, std::string& said) {
  const bool does = region.instructions <= limits.instructions;
  said = does ? said : "the copy would be too long";
  return does;
}

/// A value that is known, and what follows from it, as constants of the held copy.
class Constants {
 public:
  [[nodiscard]] bool find(const Module& module, const FunctionBlocks& function, const spirv::ControlFlow& flow,
                          const GuardedRegion& region, const KnownValue& value, std::string& said) {
    const spirv::ModuleIndex index(module);
    const Id type = index.type_of(value.value);
    const Instruction* number = index.type(type, Op::OpTypeInt);
    if (number == nullptr || (*number)[2] != kWordBits) {
      said = "its value is not a 32-bit integer";
      return false;
    }
    known_[value.value] = value.bits;
    rows_.push_back({value.value, type, value.bits, false});
    const Derived derived(function, flow, value.value);
    for (const Derived::Value& of : derived.values()) {
      const Id result = of.instruction.result();
      if (const Id loaded = derived.loaded(of.instruction); loaded != 0) {
        if (const auto found = known_.find(loaded); found != known_.end()) {
          known_[result] = found->second;
        }
      } else if (const auto bits = computed(of.instruction, known_, index)) {
        known_[result] = *bits;
      }
      const bool is_before =
          flow.dominators.dominates(static_cast<spirv::Node>(of.block), static_cast<spirv::Node>(region.at));
      if (const auto bits = known_.find(result);
          bits != known_.end() && (is_before || region.defined.contains(result))) {
        const Id result_type = of.instruction.result_type();
        rows_.push_back({result, result_type, bits->second, index.type(result_type, Op::OpTypeBool) != nullptr});
      }
    }
    return true;
  }
  [[nodiscard]] const Known& known() const {
    return known_;
  }
  /// Constants of the module, by the values that they replace.
  [[nodiscard]] std::unordered_map<Id, Id> add_to(Module& module) const {
    std::unordered_map<Id, Id> names;
    for (const Row& row : rows_) {
      names[row.value] =
          row.is_truth ? find_or_add(module, row.bits != 0 ? Op::OpConstantTrue : Op::OpConstantFalse, row.type, {})
                       : find_or_add(module, Op::OpConstant, row.type, {row.bits});
    }
    return names;
  }

 private:
  struct Row {
    Id value, type;
    Word bits;
    bool is_truth;
  };
  Known known_;
  std::vector<Row> rows_;
};

/// The instructions of a load from memory that no shader writes, at a constant address: it gives the same wherever it
/// stands. False, with the reason, for other loads.
bool constant_load(const Module& module, Id load, std::vector<Instruction>& code, std::string& said) {
  const spirv::ModuleIndex index(module);
  const Instruction* i = index.definition(load);
  constexpr std::size_t kMemoryOperands = 4;
  if (i == nullptr || !i->is(Op::OpLoad) ||
      ((*i)[kMemoryOperands] & static_cast<Word>(spv::MemoryAccessMask::Volatile)) != 0) {
    said = "its value is no load, or a volatile one";
    return false;
  }
  code = {*i};
  i = index.definition((*i)[3]);
  while (i != nullptr && (i->is(Op::OpAccessChain) || i->is(Op::OpInBoundsAccessChain))) {
    for (std::size_t word = 4; word < i->size(); ++word) {
      if (!index.is_constant((*i)[word])) {
        said = "its value is loaded from an address that varies";
        return false;
      }
    }
    code.insert(code.begin(), *i);
    i = index.definition((*i)[3]);
  }
  if (i == nullptr || !i->is(Op::OpVariable) || index.is_volatile((*i)[2])) {
    said = "its value is loaded from an address that varies";
    return false;
  }
  const auto storage = static_cast<spv::StorageClass>((*i)[3]);
  const Instruction* pointer = index.type((*i)[1], Op::OpTypePointer);
  const bool is_uniform =
      storage == spv::StorageClass::PushConstant ||
      (storage == spv::StorageClass::Uniform && pointer != nullptr &&
       index.type((*pointer)[3], Op::OpTypeStruct) != nullptr && !index.is_buffer_block((*pointer)[3]));
  said = is_uniform ? said : "its value is loaded from memory that shaders may write";
  return is_uniform;
}

void copy_behind(Module& module, const Place& place, FunctionBlocks& function, const GuardedRegion& region,
                 const Guard& guard, Counts& counts, CopyLimits& limits) {
  const Copies copies = guarded_copy(module, function, region, guard, counts);
  limits.instructions -= region.instructions;
  limits.held = copies.held;
  limits.failed = copies.failed;
  tidy(module, function, spirv::WideSelectors(module));
  module.functions[place.function] = join(function);
  forget_removed(module);
}

}  // namespace

std::optional<Word> selector_by_counts(const Module& module, const Place& place, const Counts& counts) {
  const spirv::WideSelectors wide(module);
  const FunctionBlocks function = split(module.functions[place.function]);
  const std::size_t at = function.index_of(place.label);
  const auto all = counts.find(place.label);
  if (at == function.blocks.size() || all == counts.end() || all->second == 0 ||
      !function.blocks[at].back().is(Op::OpSwitch) || wide.literal_words(function.blocks[at].back()[1]) != 1) {
    return std::nullopt;
  }
  const Instruction& end = function.blocks[at].back();
  for (std::size_t word = 3; word + 1 < end.size(); word += 2) {
    const Id target = end[word + 1];
    const auto count = counts.find(target);
    if (count == counts.end() || count->second != all->second) {
      continue;
    }
    std::size_t ways = target == end[2] ? 1 : 0;
    for (std::size_t other = 3; other + 1 < end.size(); other += 2) {
      ways += end[other + 1] == target ? 1U : 0U;
    }
    // Executions of the target are those of the value only if nothing else leads there.
    for (const auto& block : function.blocks) {
      const auto to = targets(block, wide);
      ways += label_of(block) != place.label && std::find(to.begin(), to.end(), target) != to.end() ? 1U : 0U;
    }
    if (ways == 1) {
      return end[word];
    }
  }
  return std::nullopt;
}

bool follows(const Module& module, const Place& place, Id root) {
  const spirv::WideSelectors wide(module);
  std::string reason;
  const auto flow = spirv::control_flow(module.functions[place.function], wide, reason);
  const FunctionBlocks function = split(module.functions[place.function]);
  const std::size_t at = function.index_of(place.label);
  if (!flow || at == function.blocks.size()) {
    return false;
  }
  const auto defined = std::find_if(function.blocks.begin(), function.blocks.end(), [&](const auto& block) {
    return std::any_of(block.begin(), block.end(), [&](const Instruction& i) { return i.result() == root; });
  });
  return defined != function.blocks.end() &&
         flow->dominators.dominates(static_cast<spirv::Node>(defined - function.blocks.begin()),
                                    static_cast<spirv::Node>(at)) &&
         Derived(function, *flow, root).holds(function.blocks[at].back()[1]);
}

bool specialise(Module& module, const Place& place, const KnownValue& value, bool keep_switch, Counts& counts,
                CopyLimits& limits, std::string& said) {
  const spirv::WideSelectors wide(module);
  std::string reason;
  const auto flow = spirv::control_flow(module.functions[place.function], wide, reason);
  FunctionBlocks function = split(module.functions[place.function]);
  if (!flow) {
    return false;
  }
  const auto region = find_guarded_region(module, function, *flow, place.label, said);
  if (!region || !fits(*region, limits, said)) {
    return false;
  }
  const Instruction end = function.blocks[region->at].back();
  const Id root = value.value != 0 ? value.value : end[1];
  Constants constants;
  if (wide.literal_words(end[1]) != 1 || !constants.find(module, function, *flow, *region, {root, value.bits}, said)) {
    return false;
  }
  const auto condition = constants.known().find(end[1]);
  if (condition == constants.known().end()) {
    said = "its branch does not follow from the value";
    return false;
  }
  Guard guard;
  guard.text = "value " + std::to_string(value.bits);
  guard.renamed = constants.add_to(module);
  const Id truth = find_or_add(module, Op::OpTypeBool, 0, {});
  guard.condition = module.bound++;
  guard.code = {Instruction(Op::OpIEqual, {truth, guard.condition, root, guard.renamed.at(root)})};
  const Id target = target_of(end, condition->second);
  guard.held_end = keep_switch && end.is(Op::OpSwitch) ? Instruction(Op::OpSwitch, {guard.renamed.at(end[1]), target})
                                                       : Instruction(Op::OpBranch, {target});
  copy_behind(module, place, function, *region, guard, counts, limits);
  said = std::string(end.is(Op::OpSwitch) ? "a switch" : "a branch") + " with code for the value " +
         std::to_string(value.bits) + ", the only one seen";
  return true;
}

bool specialise_loop(Module& module, const Place& place, const KnownValue& value, Counts& counts, CopyLimits& limits,
                     std::string& said) {
  const spirv::WideSelectors wide(module);
  std::string reason;
  const auto flow = spirv::control_flow(module.functions[place.function], wide, reason);
  FunctionBlocks function = split(module.functions[place.function]);
  const std::size_t at = function.index_of(place.label);
  if (!flow || at == function.blocks.size() || !function.blocks[at].back().is(Op::OpBranch)) {
    return false;
  }
  const auto region = find_guarded_region(module, function, *flow, place.label, said);
  if (!region || !region->defined.contains(value.value)) {
    said.clear();  // nothing that is known stands in this loop
    return false;
  }
  std::vector<Instruction> load;  // chains and the load, from the constant address
  if (!fits(*region, limits, said) || !constant_load(module, value.value, load, said)) {
    return false;
  }
  Constants constants;
  if (!constants.find(module, function, *flow, *region, value, said)) {
    return false;
  }
  Guard guard;
  guard.text = "value " + std::to_string(value.bits) + " in a loop";
  guard.renamed = constants.add_to(module);
  std::unordered_map<Id, Id> again;
  for (Instruction& i : load) {
    for (const std::size_t word : spirv::id_words(i)) {
      const auto found = again.find(i[word]);
      i.set(word, found == again.end() ? i[word] : found->second);
    }
    again[i[2]] = module.bound++;
    i.set(2, again.at(i[2]));
    guard.code.push_back(i);
  }
  copy_decorations(module, again);
  const Id truth = find_or_add(module, Op::OpTypeBool, 0, {});
  guard.condition = module.bound++;
  guard.code.emplace_back(Op::OpIEqual, std::initializer_list<Word>{truth, guard.condition, again.at(value.value),
                                                                    guard.renamed.at(value.value)});
  copy_behind(module, place, function, *region, guard, counts, limits);
  said = "a loop with code for the value " + std::to_string(value.bits) + ", the only one seen";
  return true;
}

}  // namespace rayreplay::optimise
