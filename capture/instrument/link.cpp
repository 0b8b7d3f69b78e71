#include "capture/instrument/link.hpp"

#include <algorithm>
#include <bit>
#include <string>
#include <unordered_set>

namespace rayreplay::instrument {

namespace {

using spv::Op;

/// The id operands of an instruction: words [first, last) without `skip`.
struct IdWords {
  std::size_t first = 1, last = 0, skip = 0;
};

/// For the instructions that glslang makes of the probes; all operands of the others are ids.
IdWords id_words(const Instruction& i) {
  const std::size_t n = i.size();
  switch (static_cast<Op>(i.op())) {
    case Op::OpTypeInt:
    case Op::OpTypeFloat:
      return {1, 2, 0};
    case Op::OpTypeForwardPointer:
    case Op::OpName:
    case Op::OpDecorate:
    case Op::OpMemberDecorate:
    case Op::OpSelectionMerge:
      return {1, 2, 0};
    case Op::OpTypePointer:
      return {1, 4, 2};
    case Op::OpTypeVector:
    case Op::OpConstant:
    case Op::OpSpecConstant:
    case Op::OpStore:
      return {1, 3, 0};
    case Op::OpSpecConstantOp:
    case Op::OpFunction:
    case Op::OpVariable:
      return {1, n, 3};
    case Op::OpLoad:
    case Op::OpCompositeExtract:
      return {1, 4, 0};
    case Op::OpVectorShuffle:
    case Op::OpCompositeInsert:
      return {1, 5, 0};
    case Op::OpExtInst:
    case Op::OpGroupNonUniformBallotBitCount:
      return {1, n, 4};
    case Op::OpLoopMerge:
      return {1, 3, 0};
    default:
      return {1, n, 0};
  }
}

template <typename Visit>
void for_each_id(const Instruction& instruction, const Visit& visit) {
  const IdWords where = id_words(instruction);
  for (std::size_t i = where.first; i < std::min(where.last, instruction.size()); ++i) {
    if (i != where.skip) {
      visit(i, instruction[i]);
    }
  }
}

/// The word with the result id of a global; 0: none.
std::size_t result_word(const Instruction& instruction) {
  bool result = false;
  bool type = false;
  spv::HasResultAndType(static_cast<Op>(instruction.op()), &result, &type);
  return result ? (type ? 2 : 1) : 0;
}

/// The word with the scope of a probe's atomic; 0: no atomic.
std::size_t scope_word(const Instruction& i) {
  switch (static_cast<Op>(i.op())) {
    case Op::OpAtomicStore:
      return 2;
    case Op::OpAtomicLoad:
    case Op::OpAtomicIAdd:
    case Op::OpAtomicCompareExchange:
      return 4;
    default:
      return 0;
  }
}

/// SPIR-V requires each of these once, or allows it: constants.
bool unique(const Instruction& instruction) {
  switch (static_cast<Op>(instruction.op())) {
    case Op::OpTypeVoid:
    case Op::OpTypeBool:
    case Op::OpTypeInt:
    case Op::OpTypeFloat:
    case Op::OpTypeVector:
    case Op::OpTypePointer:
    case Op::OpTypeFunction:
    case Op::OpConstantTrue:
    case Op::OpConstantFalse:
    case Op::OpConstant:
    case Op::OpConstantComposite:
      return true;
    default:
      return false;
  }
}

std::vector<Word> key_of(const Instruction& instruction) {
  std::vector<Word> key = {instruction.op()};
  const std::size_t result = result_word(instruction);
  for (std::size_t i = 1; i < instruction.size(); ++i) {
    if (i != result) {
      key.push_back(instruction[i]);
    }
  }
  return key;
}

/// "rr_miss(u1;vu3;" -> "rr_miss"
std::string plain_name(const std::string& name) {
  return name.substr(0, name.find('('));
}

}  // namespace

Library make_library(std::span<const Word> words) {
  Library library;
  std::string reason;
  std::optional<Module> module = parse(words, reason);
  if (!module) {
    return library;
  }
  library.module = std::move(*module);
  for (std::size_t i = 0; i < library.module.functions.size(); ++i) {
    library.bodies[library.module.functions[i].id()] = i;
  }
  for (std::size_t i = 0; i < library.module.globals.size(); ++i) {
    if (const Id id = library.module.globals[i].result(); id != 0) {
      library.globals[id] = i;
    }
  }
  for (const Instruction& i : library.module.debug) {
    if (i.is(Op::OpName) && library.bodies.contains(i[1])) {
      library.functions[plain_name(i.string(2))] = i[1];
    }
  }
  return library;
}

Linker::Linker(Module& target, const FrozenConstants& frozen) : target_(target), frozen_(frozen) {
  narrow_scope_ = target.memory_model.front()[2] == static_cast<Word>(spv::MemoryModel::Vulkan) &&
                  !target.has(spv::Capability::VulkanMemoryModelDeviceScope);
  for (const Instruction& i : target.globals) {
    if (unique(i)) {
      known_.emplace(key_of(i), i.result());
    }
  }
}

Id Linker::global(const Instruction& instruction) {
  if (!unique(instruction)) {
    target_.globals.push_back(instruction);
    return instruction.result();
  }
  const auto [at, fresh] = known_.emplace(key_of(instruction), instruction.result());
  if (fresh) {
    target_.globals.push_back(instruction);
  } else if (instruction.result() + 1 == target_.bound) {
    --target_.bound;  // the id was made for this
  }
  return at->second;
}

// `global` takes the id back where the target has the type already.
Id Linker::type_void() {
  return global(Instruction(Op::OpTypeVoid, {fresh()}));
}

Id Linker::type_bool() {
  return global(Instruction(Op::OpTypeBool, {fresh()}));
}

Id Linker::type_uint() {
  return global(Instruction(Op::OpTypeInt, {fresh(), 32, 0}));
}

Id Linker::type_u64() {
  capability(spv::Capability::Int64);
  return global(Instruction(Op::OpTypeInt, {fresh(), 64, 0}));
}

Id Linker::type_float() {
  return global(Instruction(Op::OpTypeFloat, {fresh(), 32}));
}

Id Linker::type_double() {
  capability(spv::Capability::Float64);
  return global(Instruction(Op::OpTypeFloat, {fresh(), 64}));
}

Id Linker::type_array(Id element, std::uint32_t length) {
  const Id size = constant(length);
  return global(Instruction(Op::OpTypeArray, {fresh(), element, size}));
}

Id Linker::type_uvec(std::uint32_t components) {
  const Id component = type_uint();
  return global(Instruction(Op::OpTypeVector, {fresh(), component, components}));
}

Id Linker::type_vec(std::uint32_t components) {
  const Id component = type_float();
  return global(Instruction(Op::OpTypeVector, {fresh(), component, components}));
}

Id Linker::type_pointer(spv::StorageClass storage, Id type) {
  return global(Instruction(Op::OpTypePointer, {fresh(), static_cast<Word>(storage), type}));
}

Id Linker::type_function(Id result, std::span<const Id> parameters) {
  Instruction instruction(Op::OpTypeFunction, {fresh(), result});
  for (const Id parameter : parameters) {
    instruction.add(parameter);
  }
  return global(instruction);
}

Id Linker::constant(std::uint32_t value) {
  const Id type = type_uint();
  return global(Instruction(Op::OpConstant, {type, fresh(), value}));
}

Id Linker::constant_u64(std::uint64_t value) {
  const Id type = type_u64();
  return global(Instruction(Op::OpConstant, {type, fresh(), static_cast<Word>(value), static_cast<Word>(value >> 32)}));
}

Id Linker::constant_double(double value) {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  const Id type = type_double();
  return global(Instruction(Op::OpConstant, {type, fresh(), static_cast<Word>(bits), static_cast<Word>(bits >> 32)}));
}

Id Linker::own_constant(std::uint64_t value) {
  const Id type = type_u64();
  const Id id = fresh();
  target_.globals.emplace_back(
      Op::OpConstant, std::initializer_list<Word>{type, id, static_cast<Word>(value), static_cast<Word>(value >> 32)});
  return id;
}

Id Linker::own_constant(std::uint32_t value) {
  const Id type = type_uint();
  const Id id = fresh();
  target_.globals.emplace_back(Op::OpConstant, std::initializer_list<Word>{type, id, value});
  return id;
}

void Linker::change(Id own_constant, std::uint32_t value) {
  for (Instruction& i : target_.globals) {
    if (i.is(Op::OpConstant) && i[2] == own_constant) {
      i.set(3, value);
    }
  }
}

Id Linker::variable(spv::StorageClass storage, Id type, Id initializer) {
  const Id pointer = type_pointer(storage, type);
  Instruction instruction(Op::OpVariable, {pointer, fresh(), static_cast<Word>(storage)});
  if (initializer != 0) {
    instruction.add(initializer);
  }
  return global(instruction);
}

void Linker::capability(spv::Capability capability) {
  if (!target_.has(capability)) {
    target_.capabilities.emplace_back(Op::OpCapability, std::initializer_list<Word>{static_cast<Word>(capability)});
  }
}

void Linker::extension(std::string_view name) {
  for (const Instruction& i : target_.extensions) {
    if (i.string(1) == name) {
      return;
    }
  }
  target_.extensions.emplace_back(number(Op::OpExtension), std::span<const Word>(string_words(name)));
}

void Linker::decorate(Id id, std::initializer_list<Word> decoration) {
  Instruction instruction(Op::OpDecorate, {id});
  for (const Word word : decoration) {
    instruction.add(word);
  }
  target_.annotations.push_back(std::move(instruction));
}

/// Additions of one import.
struct Linker::Import {
  std::unordered_map<Id, Id>& ids;    ///< library id -> target id
  std::unordered_set<Id> needed;      ///< library ids: globals and functions
  std::vector<Id> functions;          ///< library ids, in order of discovery
  std::unordered_set<Id> added = {};  ///< library ids whose target ids are new, so that their decorations come too
};

Id Linker::function(const Library& library, std::string_view name) {
  const auto found = library.functions.find(std::string(name));
  if (found == library.functions.end()) {
    return 0;
  }
  std::unordered_map<Id, Id>& ids = mapped_[&library];
  if (const auto known = ids.find(found->second); known != ids.end()) {
    return known->second;
  }
  // What the function needs, directly or not.
  Import import{ids, {}, {}};
  std::vector<Id> open = {found->second};
  while (!open.empty()) {
    const Id id = open.back();
    open.pop_back();
    if (ids.contains(id) || !import.needed.insert(id).second) {
      continue;
    }
    const auto visit = [&](std::size_t, Id used) { open.push_back(used); };
    if (const auto body = library.bodies.find(id); body != library.bodies.end()) {
      import.functions.push_back(id);
      for (const Instruction& i : library.module.functions[body->second].body) {
        for_each_id(i, visit);
      }
    } else if (const auto global = library.globals.find(id); global != library.globals.end()) {
      for_each_id(library.module.globals[global->second], visit);
    }
  }
  import_globals(library, import);
  for (const Id id : import.functions) {
    ids[id] = fresh();
  }
  for (const Id id : import.functions) {
    import_function(library, import, id);
  }
  for (const Instruction& i : library.module.annotations) {
    const bool spec_id = i.is(Op::OpDecorate) && i[2] == static_cast<Word>(spv::Decoration::SpecId);
    if (!spec_id && import.added.contains(i[1])) {
      Instruction copy = i;
      copy.set(1, ids[i[1]]);
      target_.annotations.push_back(std::move(copy));
    }
  }
  for (const Instruction& i : library.module.debug) {
    if (i.is(Op::OpName) &&
        std::find(import.functions.begin(), import.functions.end(), i[1]) != import.functions.end()) {
      Instruction copy(Op::OpName, {ids[i[1]]});
      for (const Word word : string_words(plain_name(i.string(2)))) {
        copy.add(word);
      }
      target_.debug.push_back(std::move(copy));
    }
  }
  for (const Instruction& i : library.module.capabilities) {
    if (i[1] != static_cast<Word>(spv::Capability::Shader)) {
      capability(static_cast<spv::Capability>(i[1]));
    }
  }
  for (const Instruction& i : library.module.extensions) {
    const std::string text = i.string(1);
    if (target_.version < 0x00010500 || text != "SPV_KHR_physical_storage_buffer") {
      extension(text);
    }
  }
  // Every probe has addresses; formulas have none, and their module has no capability for them.
  constexpr auto kAddresses = static_cast<Word>(spv::AddressingModel::PhysicalStorageBuffer64);
  if (library.module.memory_model.front()[1] == kAddresses) {
    target_.memory_model.front().set(1, kAddresses);
  }
  return ids[found->second];
}

void Linker::import_globals(const Library& library, Import& import) {
  for (const Instruction& i : library.module.imports) {
    if (!import.needed.contains(i[1])) {
      continue;
    }
    const auto same = std::find_if(target_.imports.begin(), target_.imports.end(),
                                   [&](const Instruction& t) { return t.string(2) == i.string(2); });
    if (same != target_.imports.end()) {
      import.ids[i[1]] = (*same)[1];
    } else {
      Instruction copy = i;
      copy.set(1, import.ids[i[1]] = fresh());
      target_.imports.push_back(std::move(copy));
    }
  }
  for (const Instruction& i : library.module.globals) {
    if (i.is(Op::OpTypeForwardPointer)) {
      if (import.needed.contains(i[1])) {
        import.ids[i[1]] = fresh();
        target_.globals.emplace_back(Op::OpTypeForwardPointer, std::initializer_list<Word>{import.ids[i[1]], i[2]});
      }
      continue;
    }
    const Id id = i.result();
    if (id == 0 || !import.needed.contains(id)) {
      continue;
    }
    if (const auto forward = import.ids.find(id); forward != import.ids.end()) {
      // A pointer to a structure of the library, which is new here, so no such pointer can exist.
      Instruction copy(Op::OpTypePointer, {forward->second, i[2], import.ids[i[3]]});
      known_.emplace(key_of(copy), forward->second);
      target_.globals.push_back(std::move(copy));
      import.added.insert(id);
    } else {
      import.ids[id] = frozen_constant(library, import, i);
    }
  }
}

Id Linker::frozen_constant(const Library& library, Import& import, const Instruction& instruction) {
  std::uint64_t value = 0;
  bool frozen = false;
  for (const Instruction& i : library.module.annotations) {
    if (i.is(Op::OpDecorate) && i[1] == instruction.result() && i[2] == static_cast<Word>(spv::Decoration::SpecId)) {
      value = i[3] < frozen_.size() ? frozen_[i[3]] : 0;
      frozen = true;
    }
  }
  const Id id = fresh();
  Instruction copy = instruction;
  if (instruction.is(Op::OpSpecConstantTrue) || instruction.is(Op::OpSpecConstantFalse)) {
    const Op op =
        (frozen ? value != 0 : instruction.is(Op::OpSpecConstantTrue)) ? Op::OpConstantTrue : Op::OpConstantFalse;
    copy = Instruction(op, {instruction[1], instruction[2]});
  } else if (instruction.is(Op::OpSpecConstant)) {
    copy = Instruction(number(Op::OpConstant), instruction.operands());
    if (frozen) {
      copy.set(3, static_cast<Word>(value));
      copy.set(4, static_cast<Word>(value >> 32));
    }
  } else if (instruction.is(Op::OpSpecConstantComposite)) {
    copy = Instruction(number(Op::OpConstantComposite), instruction.operands());
  }
  const std::size_t result = result_word(copy);
  for_each_id(copy, [&](std::size_t at, Id used) {
    if (at != result) {
      copy.set(at, import.ids[used]);
    }
  });
  copy.set(result, id);
  const Id target = global(copy);
  if (target == id) {
    import.added.insert(instruction.result());
  }
  return target;
}

void Linker::import_function(const Library& library, Import& import, Id id) {
  const Function& source = library.module.functions[library.bodies.at(id)];
  // All results first: phis and branches refer forward.
  for (const Instruction& i : source.body) {
    if (const Id result = i.result(); result != 0 && result != id) {
      import.ids[result] = fresh();
      import.added.insert(result);
    }
  }
  Function copy;
  for (Instruction i : source.body) {
    for_each_id(i, [&](std::size_t at, Id used) { i.set(at, import.ids[used]); });
    if (const std::size_t scope = scope_word(i); scope != 0 && narrow_scope_) {
      i.set(scope, constant(static_cast<Word>(spv::Scope::QueueFamily)));
    }
    copy.body.push_back(std::move(i));
  }
  functions_.push_back(std::move(copy));
}

void Linker::finish() {
  for (Function& function : functions_) {
    target_.functions.push_back(std::move(function));
  }
  functions_.clear();
}

}  // namespace rayreplay::instrument
