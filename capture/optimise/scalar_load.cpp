#include <algorithm>

#include "capture/optimise/expected_gain.hpp"
#include "capture/optimise/groups.hpp"
#include "capture/optimise/guarded_copy.hpp"
#include "capture/spirv/module_index.hpp"
#include "capture/spirv/operands.hpp"

namespace rayreplay::optimise {
namespace {

using spv::Op;

/// The access chains from a buffer to a loaded place, outermost first, and the one index that is no constant.
struct Address {
  std::vector<Instruction> chains;
  Id index = 0;
};

bool address_of(const spirv::ModuleIndex& index, Id pointer, Address& address, std::string& said) {
  const Instruction* i = index.definition(pointer);
  while (i != nullptr && (i->is(Op::OpAccessChain) || i->is(Op::OpInBoundsAccessChain))) {
    address.chains.insert(address.chains.begin(), *i);
    for (std::size_t word = 4; word < i->size(); ++word) {
      if (index.is_constant((*i)[word])) {
        continue;
      }
      if (address.index != 0 && address.index != (*i)[word]) {
        said = "its address has several indices that vary";
        return false;
      }
      address.index = (*i)[word];
    }
    i = index.definition((*i)[3]);
  }
  const bool is_buffer = i != nullptr && i->is(Op::OpVariable) &&
                         ((*i)[3] == static_cast<Word>(spv::StorageClass::Uniform) ||
                          (*i)[3] == static_cast<Word>(spv::StorageClass::StorageBuffer));
  if (!is_buffer || address.index == 0) {
    said = "its address is no element of a buffer";
    return false;
  }
  const Instruction* number = index.type(index.type_of(address.index), Op::OpTypeInt);
  if (number == nullptr || (*number)[2] != kWordBits) {
    said = "its index does not have 32 bits";
    return false;
  }
  return true;
}

}  // namespace

bool scalarise_load(Module& module, std::size_t function_at, Id load, Counts& counts, CopyLimits& limits,
                    std::string& said) {
  if (!allows_groups(module, said)) {
    return false;
  }
  const spirv::WideSelectors wide(module);
  FunctionBlocks function = split(module.functions[function_at]);
  const auto has_load = [&](const FunctionBlocks::Code& code) {
    return std::any_of(code.begin(), code.end(),
                       [&](const Instruction& i) { return i.is(Op::OpLoad) && i.result() == load; });
  };
  const auto at = std::find_if(function.blocks.begin(), function.blocks.end(), has_load);
  if (at == function.blocks.end()) {
    return false;  // another step removed it
  }
  if (const Instruction* merge = merge_of(*at); merge != nullptr && merge->is(Op::OpLoopMerge)) {
    said = "it stands in a loop's header";
    return false;
  }
  const auto place = std::find_if(at->begin(), at->end(), [&](const Instruction& i) { return i.result() == load; });
  const Instruction given = *place;
  constexpr std::size_t kMemoryOperands = 4;
  if ((given[kMemoryOperands] & static_cast<Word>(spv::MemoryAccessMask::Volatile)) != 0) {
    said = "it is volatile";
    return false;
  }
  Address address;
  {
    const spirv::ModuleIndex index(module);
    if (!address_of(index, given[3], address, said)) {
      return false;
    }
  }
  const Id block_label = label_of(*at);
  const auto count = counts.find(block_label);
  const double lanes = count == counts.end() ? 0 : static_cast<double>(count->second);
  // The load is made once for a group; each lane compares its index.
  limits.uniform_slots = lanes * (slots_of(given, spirv::Classifier(module), wide) - 1.0);
  const Id index_type = spirv::ModuleIndex(module).type_of(address.index);

  const Id held = module.bound++, failed = module.bound++, behind = module.bound++;
  const Vote vote = vote_on(module, address.index, index_type, false);
  FunctionBlocks::Code first(at->begin(), place), rest(place + 1, at->end());
  first.insert(first.end(), vote.code.begin(), vote.code.end());
  first.emplace_back(Op::OpSelectionMerge, std::initializer_list<Word>{behind, 0});
  first.emplace_back(Op::OpBranchConditional, std::initializer_list<Word>{vote.agree, held, failed});
  FunctionBlocks::Code held_code = {Instruction(Op::OpLabel, {held})};
  Id pointer = address.chains.front()[3];
  for (Instruction chain : address.chains) {
    chain.set(2, module.bound++);
    chain.set(3, pointer);
    for (std::size_t word = 4; word < chain.size(); ++word) {
      chain.set(word, chain[word] == address.index ? vote.first : chain[word]);
    }
    pointer = chain[2];
    held_code.push_back(chain);
  }
  const Id one = module.bound++, own = module.bound++;
  Instruction scalar = given, plain = given;
  scalar.set(2, one);
  scalar.set(3, pointer);
  plain.set(2, own);
  held_code.push_back(scalar);
  held_code.emplace_back(Op::OpBranch, std::initializer_list<Word>{behind});
  const FunctionBlocks::Code failed_code = {Instruction(Op::OpLabel, {failed}), plain,
                                            Instruction(Op::OpBranch, {behind})};
  FunctionBlocks::Code last = {Instruction(Op::OpLabel, {behind}),
                               Instruction(Op::OpPhi, {given[1], load, one, held, own, failed})};
  last.insert(last.end(), rest.begin(), rest.end());
  counts[held] = counts[behind] = static_cast<std::uint64_t>(lanes);
  counts[failed] = 0;

  *at = std::move(first);
  for (auto& code : function.blocks) {
    for (Instruction& i : code) {
      for (std::size_t pair = 3; i.is(Op::OpPhi) && pair + 1 < i.size(); pair += 2) {
        i.set(pair + 1, i[pair + 1] == block_label ? behind : i[pair + 1]);
      }
    }
  }
  for (Instruction& i : last) {
    for (std::size_t pair = 3; i.is(Op::OpPhi) && i.result() != load && pair + 1 < i.size(); pair += 2) {
      i.set(pair + 1, i[pair + 1] == block_label ? behind : i[pair + 1]);
    }
  }
  function.blocks.insert(function.blocks.end(), {held_code, failed_code, last});
  order_blocks(function, wide);
  module.functions[function_at] = join(function);
  copy_decorations(module, {{load, one}});
  copy_decorations(module, {{load, own}});
  name_guard(module, held, failed, "one address in a group");
  limits.held = held;
  limits.failed = failed;
  said = "a load whose address all lanes of a group agreed on: made scalar for groups that agree";
  return true;
}

}  // namespace rayreplay::optimise
