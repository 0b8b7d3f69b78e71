#include <algorithm>

#include "capture/optimise/expected_gain.hpp"
#include "capture/optimise/groups.hpp"
#include "capture/optimise/guarded_copy.hpp"
#include "capture/optimise/value_slice.hpp"
#include "capture/spirv/operands.hpp"

namespace rayreplay::optimise {
namespace {

using spv::Op;

struct Root {
  Id value = 0, type = 0;
  bool is_truth = false;
};

/// The value that is made scalar: a load that all lanes agreed on and from which the condition follows, or the
/// condition.
Root root_of(const FunctionBlocks& function, const spirv::ControlFlow& flow, std::size_t at, Id condition,
             const spirv::ModuleIndex& index, const std::unordered_set<Id>& loads) {
  const auto root = [&](Id value) {
    const Id type = index.type_of(value);
    const Instruction* number = index.type(type, Op::OpTypeInt);
    const bool is_truth = index.type(type, Op::OpTypeBool) != nullptr;
    return is_truth || (number != nullptr && (*number)[2] == kWordBits) ? Root{value, type, is_truth} : Root{};
  };
  // The last load comes first: it is nearest to the branch.
  for (auto node = flow.order.rbegin(); node != flow.order.rend(); ++node) {
    if (!flow.dominators.dominates(*node, static_cast<spirv::Node>(at))) {
      continue;
    }
    const auto& code = function.blocks[*node];
    for (auto i = code.rbegin(); i != code.rend(); ++i) {
      if (loads.contains(i->result()) && root(i->result()).value != 0 &&
          Derived(function, flow, i->result()).holds(condition)) {
        return root(i->result());
      }
    }
  }
  return root(condition);
}

/// Ids that the held copy uses, in its branch and in the OpPhi of blocks after it, too.
std::unordered_set<Id> used_in(const FunctionBlocks& function, const GuardedRegion& region) {
  std::unordered_set<Id> used = {function.blocks[region.at].back()[1]};
  for (const auto& block : function.blocks) {
    const Id label = label_of(block);
    const bool is_inside = region.labels.contains(label),
               is_behind = region.merge == label || region.exits.contains(label);
    for (const Instruction& i : block) {
      if (is_inside || (is_behind && i.is(Op::OpPhi))) {
        const auto ids = spirv::used_ids(i);
        used.insert(ids.begin(), ids.end());
      }
    }
  }
  return used;
}

/// Executed slots of the region that depend only on the scalar and on what is the same in the whole launch. The branch
/// counts, too; the comparison of the guard, which each lane makes, is subtracted.
double uniform_slots(const Module& module, const FunctionBlocks& function, const spirv::ControlFlow& flow,
                     const GuardedRegion& region, std::unordered_set<Id> scalars, const spirv::ModuleIndex& index,
                     const Counts& counts) {
  const spirv::Classifier classes(module);
  const spirv::WideSelectors wide(module);
  const auto lanes = [&](const FunctionBlocks::Code& block) {
    const auto found = counts.find(label_of(block));
    return found == counts.end() ? 0 : static_cast<double>(found->second);
  };
  const auto is_scalar = [&](Id id) {
    const Instruction* definition = index.definition(id);
    const bool is_buffer = definition != nullptr && definition->is(Op::OpVariable) &&
                           ((*definition)[3] == static_cast<Word>(spv::StorageClass::Uniform) ||
                            (*definition)[3] == static_cast<Word>(spv::StorageClass::StorageBuffer) ||
                            (*definition)[3] == static_cast<Word>(spv::StorageClass::PushConstant));
    return scalars.contains(id) || is_buffer || index.is_constant(id) ||
           (definition != nullptr && definition->is(Op::OpExtInstImport));
  };
  const auto& block = function.blocks[region.at];
  double slots = is_scalar(block.back()[1]) ? lanes(block) * (slots_of(block.back(), classes, wide) - 1.0) : 0;
  for (const spirv::Node node : flow.order) {
    const auto& code = function.blocks[node];
    if (!region.labels.contains(label_of(code))) {
      continue;
    }
    for (const Instruction& i : code) {
      const auto kind = classes.of(i);
      const bool decides = i.is(Op::OpBranchConditional) || i.is(Op::OpSwitch);
      const bool is_value = !i.is(Op::OpPhi) && i.result() != 0 &&
                            (kind == spirv::InstructionClass::Arithmetic || kind == spirv::InstructionClass::Special ||
                             kind == spirv::InstructionClass::Move || kind == spirv::InstructionClass::Load);
      const auto ids = spirv::used_ids(i);
      if (decides ? is_scalar(i[1]) : is_value && !ids.empty() && std::all_of(ids.begin(), ids.end(), is_scalar)) {
        scalars.insert(i.result());
        slots += std::any_of(ids.begin(), ids.end(), [&](Id id) { return scalars.contains(id); })
                     ? lanes(code) * slots_of(i, classes, wide)
                     : 0;
      }
    }
  }
  return slots;
}

/// Whether an instruction uses the value besides the branch, the copied code, the OpPhi of blocks after it, and the
/// instructions that move into the copies.
bool is_used_elsewhere(const FunctionBlocks& function, const GuardedRegion& region, Id value,
                       const std::unordered_set<Id>& moved) {
  for (std::size_t b = 0; b < function.blocks.size(); ++b) {
    const auto& code = function.blocks[b];
    const Id label = label_of(code);
    if (region.labels.contains(label)) {
      continue;
    }
    const bool is_behind = label == region.merge || region.exits.contains(label);
    for (const Instruction& i : code) {
      const bool is_branch = b == region.at && &i == &code.back();
      const auto ids = spirv::used_ids(i);
      if (!is_branch && !moved.contains(i.result()) && !(is_behind && i.is(Op::OpPhi)) &&
          std::find(ids.begin(), ids.end(), value) != ids.end()) {
        return true;
      }
    }
  }
  return false;
}

}  // namespace

bool scalarise(Module& module, const Place& place, const std::unordered_set<Id>& uniform_loads, Counts& counts,
               CopyLimits& limits, std::string& said) {
  if (!allows_groups(module, said)) {
    return false;
  }
  const spirv::WideSelectors wide(module);
  std::string reason;
  const auto flow = spirv::control_flow(module.functions[place.function], wide, reason);
  FunctionBlocks function = split(module.functions[place.function]);
  if (!flow) {
    return false;
  }
  const auto region = find_guarded_region(module, function, *flow, place.label, said);
  if (!region) {
    return false;
  }
  if (region->instructions > limits.instructions) {
    said = "the copy would be too long";
    return false;
  }
  const spirv::ModuleIndex index(module);
  const Id condition = function.blocks[region->at].back()[1];
  const Root root = root_of(function, *flow, region->at, condition, index, uniform_loads);
  if (root.value == 0) {
    said = "its selector does not have 32 bits";
    return false;
  }
  const Derived derived(function, *flow, root.value);
  std::unordered_set<Id> constants;
  for (const Instruction& i : module.globals) {
    if (index.is_constant(i.result())) {
      constants.insert(i.result());
    }
  }
  auto used = used_in(function, *region);
  const bool is_switch = function.blocks[region->at].back().is(Op::OpSwitch);
  Guard guard;
  guard.text = root.value == condition ? "one condition in a group" : "one loaded value in a group";
  const Vote vote = vote_on(module, root.value, root.type, root.is_truth);
  guard.code = vote.code;
  guard.condition = vote.agree;
  guard.renamed[root.value] = vote.first;

  const auto name = [&](Id id) {
    const auto found = guard.renamed.find(id);
    return found == guard.renamed.end() ? id : found->second;
  };
  // Instructions before the branch that follow from the value are computed again in each copy that uses them, in the
  // held copy from the scalar. If nothing else uses the original, the passes of `simplify` remove it.
  const auto& values = derived.values();
  const auto is_before = [&](const Derived::Value& value) {
    return flow->dominators.dominates(static_cast<spirv::Node>(value.block), static_cast<spirv::Node>(region->at));
  };
  for (auto value = values.rbegin(); value != values.rend(); ++value) {
    if (is_before(*value) && used.contains(value->instruction.result())) {
      const Id loaded = derived.loaded(value->instruction);
      const auto ids = loaded != 0 ? std::vector<Id>{loaded} : spirv::used_ids(value->instruction);
      used.insert(ids.begin(), ids.end());
    }
  }
  const auto renamed = [](const Instruction& i, const std::unordered_map<Id, Id>& names, Id fresh) {
    Instruction again = i;
    for (const std::size_t word : spirv::id_words(i)) {
      const auto found = names.find(i[word]);
      again.set(word, found == names.end() ? i[word] : found->second);
    }
    again.set(2, fresh);
    return again;
  };
  std::unordered_set<Id> scalars = {root.value}, moved;
  std::vector<const Instruction*> scalar_slice;
  for (const Derived::Value& value : values) {
    const Id result = value.instruction.result();
    const Id loaded = derived.loaded(value.instruction);
    if (loaded != 0 && (region->defined.contains(result) || is_before(value))) {
      guard.renamed[result] = name(loaded);
      if (scalars.contains(loaded)) {
        scalars.insert(result);
      }
    } else if (is_before(value) && used.contains(result)) {
      const auto ids = spirv::used_ids(value.instruction);
      if (std::all_of(ids.begin(), ids.end(), [&](Id id) { return scalars.contains(id) || constants.contains(id); })) {
        scalars.insert(result);
        scalar_slice.push_back(&value.instruction);
      }
      moved.insert(result);
      guard.held_code.push_back(renamed(value.instruction, guard.renamed, module.bound));
      guard.renamed[result] = module.bound++;
      guard.failed_code.push_back(renamed(value.instruction, guard.failed_renamed, module.bound));
      guard.failed_renamed[result] = module.bound++;
    }
  }
  limits.uniform_slots = uniform_slots(module, function, *flow, *region, scalars, spirv::ModuleIndex(module), counts);
  const spirv::Classifier classes(module);
  for (const Instruction* i : scalar_slice) {
    const bool goes = !is_used_elsewhere(function, *region, i->result(), moved);
    const auto lanes = counts.find(place.label);
    limits.uniform_slots +=
        goes && lanes != counts.end() ? static_cast<double>(lanes->second) * slots_of(*i, classes, wide) : 0;
  }
  if (limits.uniform_slots <= 0) {
    said = "the guard is expected to cost more than becomes scalar";
    return false;
  }
  const Copies copies = guarded_copy(module, function, *region, guard, counts);
  limits.instructions -= region->instructions;
  limits.held = copies.held;
  limits.failed = copies.failed;
  module.functions[place.function] = join(function);
  said = std::string(is_switch ? "a switch" : "a branch") + " on " + (root.value == condition ? "a value" : "a load") +
         " that all lanes of a group agreed on: made scalar for groups that agree";
  return true;
}

}  // namespace rayreplay::optimise
