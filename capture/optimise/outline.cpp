#include <algorithm>

#include "capture/optimise/steps.hpp"
#include "capture/spirv/instruction_class.hpp"
#include "capture/spirv/operands.hpp"

namespace rayreplay::optimise {
namespace {

using Code = FunctionBlocks::Code;

/// Types of values that are passed to a function, and their pointers to variables of the caller.
class Passable {
 public:
  explicit Passable(const Module& module) {
    for (const Instruction& i : module.globals) {
      const Id id = i.is(spv::Op::OpTypePointer) ? 0 : i[1];
      switch (static_cast<spv::Op>(i.op())) {
        case spv::Op::OpTypeBool:
        case spv::Op::OpTypeInt:
        case spv::Op::OpTypeFloat:
          values_.insert(id);
          break;
        case spv::Op::OpTypeVector:
        case spv::Op::OpTypeMatrix:
        case spv::Op::OpTypeArray:
          if (values_.contains(i[2])) {
            values_.insert(id);
          }
          break;
        case spv::Op::OpTypeStruct: {
          const auto members = i.operands().subspan(1);
          if (std::all_of(members.begin(), members.end(), [&](Word member) { return values_.contains(member); })) {
            values_.insert(id);
          }
          break;
        }
        case spv::Op::OpTypePointer:
          if (i[2] == static_cast<Word>(spv::StorageClass::Function) && values_.contains(i[3])) {
            pointers_.insert(i[1]);
          }
          break;
        default:
          break;
      }
    }
  }
  /// A pointer must be to a whole variable.
  [[nodiscard]] bool takes(const Instruction& definition) const {
    const bool is_variable = definition.is(spv::Op::OpVariable) || definition.is(spv::Op::OpFunctionParameter);
    return values_.contains(definition[1]) || (is_variable && pointers_.contains(definition[1]));
  }

 private:
  std::unordered_set<Id> values_, pointers_;
};

struct Region {
  std::vector<std::size_t> blocks;  ///< places in the function, ascending
  std::unordered_set<Id> labels, defined;
  std::vector<Id> exits;  ///< blocks that branch to the merge block
};

/// The blocks that `target` dominates; false, with the reason, where they cannot become a function.
bool find_region(const spirv::ControlFlow& flow, const FunctionBlocks& function, Id target, Id merge,
                 const spirv::WideSelectors& wide, Region& region, std::string& said) {
  const std::size_t top = function.index_of(target);
  if (target == merge) {
    return false;  // the branch has no second side
  }
  if (top == function.blocks.size() || flow.graph.predecessors[top].size() != 1) {
    said = "it is entered in several ways";
    return false;
  }
  for (spirv::Node b = 0; b < flow.blocks.size(); ++b) {
    if (flow.dominators.dominates(static_cast<spirv::Node>(top), b)) {
      region.blocks.push_back(b);
      region.labels.insert(flow.blocks[b].label);
    }
  }
  for (const std::size_t b : region.blocks) {
    const Code& block = function.blocks[b];
    for (const Instruction& i : block) {
      region.defined.insert(i.result());
    }
    // A merge or continue block that nothing reaches is not in the region, and must not be left behind.
    if (const Instruction* own = merge_of(block);
        own != nullptr &&
        (!region.labels.contains((*own)[1]) || (own->is(spv::Op::OpLoopMerge) && !region.labels.contains((*own)[2])))) {
      said = "a construct in it ends outside";
      return false;
    }
    const auto to = targets(block, wide);
    if (to.empty()) {
      said = "it returns or ends the invocation";
      return false;
    }
    for (const Id next : to) {
      if (region.labels.contains(next)) {
        continue;
      }
      if (next != merge || !block.back().is(spv::Op::OpBranch)) {
        said = next != merge ? "it leaves for another place than its merge block" : "it leaves by a condition";
        return false;
      }
      region.exits.push_back(label_of(block));
    }
  }
  if (std::any_of(function.blocks[top].begin(), function.blocks[top].end(),
                  [](const Instruction& i) { return i.is(spv::Op::OpPhi); })) {
    said = "its first block selects values by where it came from";
    return false;
  }
  return true;
}

/// What the region gives to its merge block: by exit, the value that the call returns.
struct Returned {
  Id type = 0;  ///< 0: nothing
  std::unordered_map<Id, Id> value;
};

bool find_returned(const Code& merge, const Region& region, Returned& returned, std::string& said) {
  for (const Instruction& i : merge) {
    if (!i.is(spv::Op::OpPhi)) {
      continue;
    }
    std::unordered_map<Id, Id> value;
    std::unordered_set<Id> different;
    for (std::size_t pair = 3; pair + 1 < i.size(); pair += 2) {
      if (region.labels.contains(i[pair + 1])) {
        value[i[pair + 1]] = i[pair];
        different.insert(i[pair]);
      }
    }
    if (different.empty() || (different.size() == 1 && !region.defined.contains(*different.begin()))) {
      continue;
    }
    if (returned.type != 0) {
      said = "several of its values are used behind it";
      return false;
    }
    returned = {i[1], value};
  }
  return true;
}

/// OpPhi of the merge block: the region's pairs become one of the call.
void join_phis(Code& merge, const Region& region, Id call_label, Id call, const Returned& returned) {
  for (Instruction& i : merge) {
    if (!i.is(spv::Op::OpPhi)) {
      continue;
    }
    Instruction changed(spv::Op::OpPhi, {i[1], i[2]});
    Id value = 0;
    bool varies = false;
    for (std::size_t pair = 3; pair + 1 < i.size(); pair += 2) {
      if (region.labels.contains(i[pair + 1])) {
        varies = varies || region.defined.contains(i[pair]) || (value != 0 && value != i[pair]);
        value = i[pair];
      } else {
        changed.add(i[pair]);
        changed.add(i[pair + 1]);
      }
    }
    if (value != 0) {
      changed.add(varies && returned.type != 0 ? call : value);
      changed.add(call_label);
    }
    i = std::move(changed);
  }
}

}  // namespace

bool outline(Module& module, const Place& place, Id target, Counts& counts, std::string& said) {
  const spirv::WideSelectors wide(module);
  const spirv::Function& given = module.functions[place.function];
  std::string reason;
  const auto flow = spirv::control_flow(given, wide, reason);
  FunctionBlocks function = split(given);
  const std::size_t at = function.index_of(place.label);
  if (!flow || at == function.blocks.size()) {
    return false;
  }
  const Instruction* merge_instruction = merge_of(function.blocks[at]);
  if (merge_instruction == nullptr || !merge_instruction->is(spv::Op::OpSelectionMerge)) {
    said = "its branch has no merge block";
    return false;
  }
  const Id merge = (*merge_instruction)[1];
  Region region;
  if (!find_region(*flow, function, target, merge, wide, region, said)) {
    return false;
  }
  const spirv::Classifier classes(module);
  std::uint64_t slots = 0;
  for (const std::size_t b : region.blocks) {
    for (const Instruction& i : function.blocks[b]) {
      slots += classes.issue_slots(i);
      // Which of their operands are ids is not known for certain.
      const auto kind = classes.of(i);
      if (kind == spirv::InstructionClass::Other || kind == spirv::InstructionClass::Texture) {
        said = "it reads textures, or has instructions that are not moved";
        return false;
      }
      if (i.is(spv::Op::OpExtInst) && kind == spirv::InstructionClass::None) {
        said = "it has debug information of its function";
        return false;
      }
    }
  }
  if (slots < kLeastOutlined) {
    said = "it is too short for a call";
    return false;
  }
  const std::size_t merge_at = function.index_of(merge);
  Returned returned;
  if (!find_returned(function.blocks[merge_at], region, returned, said)) {
    return false;
  }

  // Values from outside become parameters, in the order of their first use.
  std::unordered_map<Id, const Instruction*> outside;
  for (const Instruction& i : given.body) {
    if (const Id id = i.result();
        id != 0 && !region.defined.contains(id) && !i.is(spv::Op::OpLabel) && !i.is(spv::Op::OpFunction)) {
      outside[id] = &i;
    }
  }
  const Passable passable(module);
  std::vector<Id> arguments, parameters, types;
  std::unordered_map<Id, Id> renamed;
  const auto pass = [&](Id id) {
    const auto found = outside.find(id);
    if (found == outside.end() || renamed.contains(id)) {
      return true;
    }
    if (!passable.takes(*found->second) || arguments.size() == kMostParameters) {
      said = arguments.size() == kMostParameters ? "it uses too many values from outside"
                                                 : "it uses a value that cannot be passed to a function";
      return false;
    }
    arguments.push_back(id);
    types.push_back((*found->second)[1]);
    renamed[id] = module.bound++;
    parameters.push_back(renamed[id]);
    return true;
  };
  for (const std::size_t b : region.blocks) {
    for (const Instruction& i : function.blocks[b]) {
      for (const std::size_t word : spirv::id_words(i)) {
        if (!pass(i[word])) {
          return false;
        }
      }
    }
  }
  for (const Id exit : region.exits) {
    if (returned.type != 0 && !pass(returned.value[exit])) {
      return false;
    }
  }
  const auto name = [&](Id id) { return renamed.contains(id) ? renamed.at(id) : id; };

  const Id result_type = returned.type != 0 ? returned.type : find_or_add(module, spv::Op::OpTypeVoid, 0, {});
  std::vector<Word> signature = {result_type};
  signature.insert(signature.end(), types.begin(), types.end());
  const Id function_type = find_or_add(module, spv::Op::OpTypeFunction, 0, signature);
  const Id callee = module.bound++, entry = module.bound++, call = module.bound++, call_label = module.bound++;

  FunctionBlocks moved;
  moved.head.emplace_back(
      spv::Op::OpFunction,
      std::initializer_list<Word>{result_type, callee, static_cast<Word>(spv::FunctionControlMask::DontInline),
                                  function_type});
  for (std::size_t p = 0; p < parameters.size(); ++p) {
    moved.head.emplace_back(spv::Op::OpFunctionParameter, std::initializer_list<Word>{types[p], parameters[p]});
  }
  moved.blocks.push_back({Instruction(spv::Op::OpLabel, {entry}), Instruction(spv::Op::OpBranch, {target})});
  for (const std::size_t b : region.blocks) {
    Code block = function.blocks[b];
    for (Instruction& i : block) {
      for (const std::size_t word : spirv::id_words(i)) {
        i.set(word, name(i[word]));
      }
    }
    if (const Id label = label_of(block);
        std::find(region.exits.begin(), region.exits.end(), label) != region.exits.end()) {
      block.back() = returned.type != 0 ? Instruction(spv::Op::OpReturnValue, {name(returned.value[label])})
                                        : Instruction(spirv::number(spv::Op::OpReturn), std::span<const Word>());
    }
    moved.blocks.push_back(std::move(block));
  }
  moved.tail.emplace_back(spirv::number(spv::Op::OpFunctionEnd), std::span<const Word>());

  Instruction call_instruction(spv::Op::OpFunctionCall, {result_type, call, callee});
  for (const Id argument : arguments) {
    call_instruction.add(argument);
  }
  join_phis(function.blocks[merge_at], region, call_label, call, returned);
  retarget(function.blocks[at], target, call_label, wide);
  Code call_block = {Instruction(spv::Op::OpLabel, {call_label}), call_instruction};
  call_block.push_back(region.exits.empty()
                           ? Instruction(spirv::number(spv::Op::OpUnreachable), std::span<const Word>())
                           : Instruction(spv::Op::OpBranch, {merge}));
  function.blocks[region.blocks.front()] = std::move(call_block);
  for (auto b = region.blocks.rbegin(); b + 1 != region.blocks.rend(); ++b) {
    function.blocks.erase(function.blocks.begin() + static_cast<std::ptrdiff_t>(*b));
  }
  module.functions[place.function] = join(function);
  module.functions.push_back(join(moved));
  counts[call_label] = counts[entry] = 0;
  said = std::to_string(slots) + " issue slots that never ran are a function of their own";
  return true;
}

}  // namespace rayreplay::optimise
