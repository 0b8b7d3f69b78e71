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

/// Values that implementations may compute with fewer bits.
std::unordered_set<Id> relaxed_in(const Module& module) {
  std::unordered_set<Id> relaxed;
  for (const Instruction& i : module.annotations) {
    if (i.is(Op::OpDecorate) && i[2] == static_cast<Word>(spv::Decoration::RelaxedPrecision)) {
      relaxed.insert(i[1]);
    }
  }
  return relaxed;
}

/// A value that is known, and what follows from it, as constants of the held copy.
class Constants {
 public:
  [[nodiscard]] bool find(const Module& module, const FunctionBlocks& function, const spirv::ControlFlow& flow,
                          const GuardedRegion& region, const KnownValue& value, std::string& said) {
    const spirv::ModuleIndex index(module);
    const auto type = number_type(index, index.type_of(value.value));
    if (!type || type->kind == NumberKind::Boolean || type->components != value.bits.size()) {
      said = "its value is no 32-bit number, and no vector of them";
      return false;
    }
    const auto relaxed = relaxed_in(module);
    if (relaxed.contains(value.value)) {
      said = "its value has relaxed precision";
      return false;
    }
    kind_ = type->kind;
    value_ = value;
    const Derived derived(function, flow, value.value, Follow::Numbers);
    follow(derived, flow, region, index, relaxed);
    // A component from which nothing follows need not be compared.
    for (std::size_t c = 0; c < value.bits.size() && value.bits.size() > 1; ++c) {
      if (!value_.bits[c]) {
        continue;
      }
      Constants less = *this;
      less.value_.bits[c].reset();
      less.follow(derived, flow, region, index, relaxed);
      if (less.rows_ == rows_) {
        *this = std::move(less);
      }
    }
    return true;
  }
  /// Whether anything follows from the value.
  [[nodiscard]] bool has_rows() const {
    return !rows_.empty();
  }
  /// A truth value or an integer, if it is known.
  [[nodiscard]] std::optional<Word> number(Id value) const {
    const auto found = known_.find(value);
    return found != known_.end() && found->second.size() == 1 ? found->second.front() : std::nullopt;
  }
  [[nodiscard]] std::string text() const {
    return text_of(value_.bits, kind_);
  }
  /// Constants of the module, by the values that they replace.
  [[nodiscard]] std::unordered_map<Id, Id> add_to(Module& module) const {
    std::unordered_map<Id, Id> names;
    for (const Row& row : rows_) {
      std::vector<Word> parts;
      for (const auto& bits : row.bits) {
        parts.push_back(
            row.type.kind == NumberKind::Boolean
                ? find_or_add(module, *bits != 0 ? Op::OpConstantTrue : Op::OpConstantFalse, row.type.component, {})
                : find_or_add(module, Op::OpConstant, row.type.component, {*bits}));
      }
      names[row.value] =
          parts.size() == 1 ? parts.front() : find_or_add(module, Op::OpConstantComposite, row.type_id, parts);
    }
    return names;
  }
  /// Compares the known components of `value`, which may be loaded again, in the guard's code.
  void add_test(Module& module, Id value, Guard& guard) const {
    const Id truth = find_or_add(module, Op::OpTypeBool, 0, {});
    const auto type = *number_type(spirv::ModuleIndex(module), spirv::ModuleIndex(module).type_of(value_.value));
    // Bits are compared, not floats: 0 is not -0, and a NaN is itself.
    const Id word = kind_ == NumberKind::Float ? find_or_add(module, Op::OpTypeInt, 0, {kWordBits, 0}) : type.component;
    const auto emit = [&](Op op, std::vector<Word> words) {
      words.insert(words.begin() + 1, module.bound++);
      guard.code.emplace_back(spirv::number(op), std::span<const Word>(words));
      return words[1];
    };
    guard.condition = 0;
    for (Word c = 0; c < value_.bits.size(); ++c) {
      if (!value_.bits[c]) {
        continue;
      }
      Id bits = value_.bits.size() == 1 ? value : emit(Op::OpCompositeExtract, {type.component, value, c});
      bits = kind_ == NumberKind::Float ? emit(Op::OpBitcast, {word, bits}) : bits;
      const Id same = emit(Op::OpIEqual, {truth, bits, find_or_add(module, Op::OpConstant, word, {*value_.bits[c]})});
      guard.condition = guard.condition == 0 ? same : emit(Op::OpLogicalAnd, {truth, guard.condition, same});
    }
  }

 private:
  struct Row {
    Id value, type_id;
    NumberType type;
    Components bits;
    bool operator==(const Row& other) const {
      return value == other.value && bits == other.bits;
    }
  };

  void follow(const Derived& derived, const spirv::ControlFlow& flow, const GuardedRegion& region,
              const spirv::ModuleIndex& index, const std::unordered_set<Id>& relaxed) {
    known_.clear();
    rows_.clear();
    known_[value_.value] = value_.bits;
    add_row(value_.value, index);
    for (const Derived::Value& of : derived.values()) {
      const Id result = of.instruction.result();
      if (relaxed.contains(result)) {
        continue;
      }
      if (const Id loaded = derived.loaded(of.instruction); loaded != 0) {
        see_load(result, loaded, derived.component(of.instruction), index);
      } else if (auto bits = computed(of.instruction, known_, index)) {
        known_[result] = std::move(*bits);
      }
      const bool is_before =
          flow.dominators.dominates(static_cast<spirv::Node>(of.block), static_cast<spirv::Node>(region.at));
      if (is_before || region.defined.contains(result)) {
        add_row(result, index);
      }
    }
  }
  void see_load(Id result, Id loaded, Id component, const spirv::ModuleIndex& index) {
    const auto found = known_.find(loaded);
    const auto at = component == 0 ? std::nullopt : index.constant(component);
    if (found == known_.end() || (component != 0 && (!at || *at >= found->second.size() || !found->second[*at]))) {
      return;
    }
    known_[result] = component == 0 ? found->second : Components{found->second[*at]};
  }
  /// Floats stay what they are: a compiler may compute with constants otherwise than the device.
  void add_row(Id value, const spirv::ModuleIndex& index) {
    const auto found = known_.find(value);
    const Id type_id = index.type_of(value);
    const auto type = number_type(index, type_id);
    if (found != known_.end() && type && type->kind != NumberKind::Float && knows_all(found->second)) {
      rows_.push_back({value, type_id, *type, found->second});
    }
  }

  KnownValue value_;
  NumberKind kind_ = NumberKind::Integer;
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

std::unordered_set<Id> conditions_of(const Module& module, const Place& place) {
  const spirv::WideSelectors wide(module);
  std::string reason;
  const auto flow = spirv::control_flow(module.functions[place.function], wide, reason);
  const FunctionBlocks function = split(module.functions[place.function]);
  const std::size_t at = function.index_of(place.label);
  if (!flow || at == function.blocks.size()) {
    return {};
  }
  const auto sources = sources_of(function, function.blocks[at].back()[1]);
  std::unordered_set<Id> before;
  for (std::size_t b = 0; b < function.blocks.size(); ++b) {
    if (!flow->dominators.dominates(static_cast<spirv::Node>(b), static_cast<spirv::Node>(at))) {
      continue;
    }
    for (const Instruction& i : function.blocks[b]) {
      if (sources.contains(i.result())) {
        before.insert(i.result());
      }
    }
  }
  return before;
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
  const auto condition = constants.number(end[1]);
  if (!condition) {
    said = "its branch does not follow from the value";
    return false;
  }
  Guard guard;
  guard.text = "value " + constants.text();
  guard.renamed = constants.add_to(module);
  constants.add_test(module, root, guard);
  const Id target = target_of(end, *condition);
  guard.held_end = keep_switch && end.is(Op::OpSwitch) ? Instruction(Op::OpSwitch, {guard.renamed.at(end[1]), target})
                                                       : Instruction(Op::OpBranch, {target});
  copy_behind(module, place, function, *region, guard, counts, limits);
  said = std::string(end.is(Op::OpSwitch) ? "a switch" : "a branch") + " with code for the value " + constants.text() +
         ", the only one seen";
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
  if (!constants.has_rows()) {
    said.clear();  // nothing in the loop follows from it
    return false;
  }
  Guard guard;
  guard.text = "value " + constants.text() + " in a loop";
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
  constants.add_test(module, again.at(value.value), guard);
  copy_behind(module, place, function, *region, guard, counts, limits);
  said = "a loop with code for the value " + constants.text() + ", the only one seen";
  return true;
}

}  // namespace rayreplay::optimise
