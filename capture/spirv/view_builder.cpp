#include "capture/spirv/view_builder.hpp"

#include <algorithm>

#include "capture/spirv/operands.hpp"
#include "capture/spirv/trace_calls.hpp"

namespace rayreplay::spirv {

using spv::Op;

namespace {

constexpr std::size_t kMostAddresses = 64;  ///< values that choose a pointer's place

/// Instructions that only read the hit object whose pointer is an operand.
bool is_hit_object_read(Word op) {
  return (op >= number(Op::OpHitObjectRecordHitMotionNV) && op <= number(Op::OpReorderThreadWithHintNV)) ||
         (op >= kOpHitObjectRecordFromQueryEXT && op <= kOpHitObjectExecuteShaderEXT);
}

}  // namespace

std::optional<InlineView> ViewBuilder::build(std::uint32_t function) {
  Copy copy;
  copy.function = function;
  if (!expand(copy, 0)) {
    return std::nullopt;
  }
  Graph graph(view_.blocks.size());
  for (Node b = 0; b < view_.blocks.size(); ++b) {
    for (const Node to : view_.flow.graph.successors[b]) {
      graph.connect(b, to);
    }
  }
  view_.flow = control_flow(std::move(graph));
  for (Value& value : view_.uses) {
    value = resolved(value);
  }
  for (Operation& operation : view_.operations) {
    const auto begin = view_.uses.begin();
    operation.constant_source = operation.joins && std::find(begin + operation.uses, begin + operation.uses_end,
                                                             kNoValue) != begin + operation.uses_end;
  }
  for (const Node b : view_.flow.order) {
    for (std::uint32_t o = view_.blocks[b].first; o < view_.blocks[b].end; ++o) {
      if (const Value result = view_.operations[o].result; result != kNoValue) {
        view_.values[result].operation = o;
        view_.values[result].block = b;
      }
    }
  }
  std::vector<std::size_t> place(view_.blocks.size(), 0);
  for (std::size_t i = 0; i < view_.flow.order.size(); ++i) {
    place[view_.flow.order[i]] = i;
  }
  std::erase_if(view_.calls, [&](const ViewCall& call) { return !view_.flow.reached(call.block); });
  std::stable_sort(view_.calls.begin(), view_.calls.end(), [&](const ViewCall& a, const ViewCall& b) {
    return std::pair(place[a.block], a.operation) < std::pair(place[b.block], b.operation);
  });
  return std::move(view_);
}

Value ViewBuilder::resolved(Value value) const {
  while (value != kNoValue && alias_[value] != value) {
    value = alias_[value];
  }
  return value;
}

bool ViewBuilder::fail(std::string reason) {
  reason_ = std::move(reason);
  failed_ = true;
  return false;
}

Node ViewBuilder::new_block(const Copy& copy, Node block) {
  const auto node = static_cast<Node>(view_.blocks.size());
  const auto at = static_cast<std::uint32_t>(view_.operations.size());
  view_.blocks.push_back({at, at, copy.function, block, true});
  view_.flow.graph.successors.emplace_back();
  view_.flow.graph.predecessors.emplace_back();
  return node;
}

bool ViewBuilder::expand(Copy& copy, std::size_t depth) {
  const ControlFlow& flow = *m_.flows[copy.function];
  if (depth > kMostCallDepth) {
    return fail("calls of functions more than " + std::to_string(kMostCallDepth) + " deep");
  }
  copy.head.assign(flow.blocks.size(), kNoNode);
  copy.tail.assign(flow.blocks.size(), kNoNode);
  for (const Node b : flow.order) {
    copy.head[b] = new_block(copy, b);
  }
  for (const Node b : flow.order) {
    if (!add_block(copy, b, depth)) {
      return false;
    }
  }
  std::unordered_map<Id, Node> tail_of;
  for (const Node b : flow.order) {
    tail_of.emplace(flow.blocks[b].label, copy.tail[b]);
    for (const Node to : flow.graph.successors[b]) {
      view_.flow.graph.connect(copy.tail[b], copy.head[to]);
    }
  }
  for (const Patch& patch : copy.patches) {
    const auto from = tail_of.find(patch.label);
    view_.use_block[patch.use] = from == tail_of.end() ? kNoNode : from->second;
  }
  return true;
}

bool ViewBuilder::add_block(Copy& copy, Node block, std::size_t depth) {
  const Block& source = m_.flows[copy.function]->blocks[block];
  const std::vector<Instruction>& body = m_.module.functions[copy.function].body;
  Node at = copy.head[block];
  view_.blocks[at].first = static_cast<std::uint32_t>(view_.operations.size());
  for (std::size_t i = source.first; i <= source.last; ++i) {
    const Place place{copy.function, static_cast<std::uint32_t>(i)};
    const Instruction& instruction = body[i];
    const bool call = instruction.is(Op::OpFunctionCall) && m_.calls.function_of.contains(instruction[3]) &&
                      !m_.flows[m_.calls.function_of.at(instruction[3])]->blocks.empty();
    const std::size_t calls = view_.calls.size();
    if (!(call ? add_call(copy, place, instruction, depth, at) : add_instruction(copy, place, instruction))) {
      return false;
    }
    if (view_.calls.size() > calls && !call) {
      view_.calls.back().block = at;
    }
    if (view_.operations.size() > kMostOperations || view_.uses.size() > 16 * kMostOperations) {
      return fail("more than " + std::to_string(kMostOperations) + " instructions with all calls inlined");
    }
    if (view_.slots.size() > kMostSlots) {
      return fail("variables of more than " + std::to_string(kMostSlots) + " parts");
    }
  }
  view_.blocks[at].end = static_cast<std::uint32_t>(view_.operations.size());
  copy.tail[block] = at;
  if (source.ending == Ending::Return) {
    const Instruction& last = body[source.last];
    copy.returns.push_back({at, last.is(Op::OpReturnValue) ? find(copy, last[1]) : Binding{}});
  }
  return true;
}

bool ViewBuilder::add_call(Copy& copy, Place place, const Instruction& i, std::size_t depth, Node& at) {
  Copy callee;
  callee.function = m_.calls.function_of.at(i[3]);
  std::size_t argument = 4;
  for (const Instruction& parameter : m_.module.functions[callee.function].body) {
    if (parameter.is(Op::OpFunctionParameter)) {
      callee.known[parameter[2]] = find(copy, i[argument++]);
    } else if (parameter.is(Op::OpLabel)) {
      break;
    }
  }
  view_.blocks[at].end = static_cast<std::uint32_t>(view_.operations.size());
  const Node caller = at;
  const auto entry = static_cast<Node>(view_.blocks.size());
  if (!expand(callee, depth + 1)) {
    return false;
  }
  view_.flow.graph.connect(caller, entry);
  at = new_block(copy, view_.blocks[caller].block);
  view_.blocks[at].starts = false;
  for (const Return& from : callee.returns) {
    view_.flow.graph.connect(from.block, at);
  }
  if (slots_.is_logical_pointer(i[1])) {
    return true;  // a pointer that is not known
  }
  if (callee.returns.size() == 1) {
    const Binding& value = callee.returns.front().value;
    const auto forward = copy.known.find(i[2]);
    if (forward != copy.known.end() && forward->second.value != kNoValue) {
      const Value whole = resolved(forward->second.value);
      if (whole != kNoValue) {
        alias_[whole] = resolved(value.value);
      }
    } else {
      copy.known[i[2]] = value;
    }
    return true;
  }
  if (m_.index.type(i[1], Op::OpTypeVoid) != nullptr) {
    return true;
  }
  Operation& operation = begin(place);
  operation.joins = true;
  for (const Return& from : callee.returns) {
    view_.use_block.push_back(from.block);
    view_.uses.push_back(from.value.value);
  }
  finish(copy, i, true);
  return true;
}

ViewBuilder::Binding ViewBuilder::find(Copy& copy, Id id) {
  if (const auto found = copy.known.find(id); found != copy.known.end()) {
    return found->second;
  }
  if (m_.index.is_constant(id)) {
    return {};
  }
  if (std::optional<Pointer> pointer = slots_.global(id)) {
    return {kNoValue, std::move(pointer)};
  }
  const Instruction* definition = m_.index.definition(id);
  if (definition == nullptr || definition->result_type() == 0 || definition->is(Op::OpFunction) ||
      slots_.is_logical_pointer(definition->result_type())) {
    return {};
  }
  // Not defined yet: the source of a join.
  const Binding binding{new_value(definition->result_type()), std::nullopt};
  copy.known.emplace(id, binding);
  return binding;
}

Value ViewBuilder::value_of(Copy& copy, Id id) {
  return find(copy, id).value;
}

Value ViewBuilder::new_value(Id type) {
  const TypeParts parts = m_.index.parts(type);
  view_.values.push_back({parts.bytes, parts.opaque, kNoValue, kNoNode});
  alias_.push_back(static_cast<Value>(alias_.size()));
  return alias_.back();
}

Operation& ViewBuilder::begin(Place place) {
  Operation& operation = view_.operations.emplace_back();
  operation.place = place;
  operation.uses = operation.address = static_cast<std::uint32_t>(view_.uses.size());
  operation.accesses = static_cast<std::uint32_t>(view_.accesses.size());
  return operation;
}

void ViewBuilder::finish(Copy& copy, const Instruction& i, bool has_result) {
  Operation& operation = view_.operations.back();
  operation.uses_end = static_cast<std::uint32_t>(view_.uses.size());
  operation.accesses_end = static_cast<std::uint32_t>(view_.accesses.size());
  if (!has_result) {
    return;
  }
  const auto [known, added] = copy.known.try_emplace(i.result());
  if (added || known->second.value == kNoValue) {
    known->second = {new_value(i.result_type()), std::nullopt};
  }
  operation.result = known->second.value;
}

void ViewBuilder::use(Value value) {
  if (value != kNoValue) {
    view_.uses.push_back(value);
    view_.use_block.push_back(kNoNode);
  }
}

void ViewBuilder::use_pointer(const Pointer& pointer) {
  for (const Value value : pointer.addresses) {
    use(value);
  }
}

void ViewBuilder::access(AccessKind kind, const Pointer& pointer) {
  Operation& operation = view_.operations.back();
  operation.storage = pointer.storage;
  operation.root = pointer.root;
  if (pointer.count != 0) {
    const AccessKind sure = kind == AccessKind::Write && !pointer.exact ? AccessKind::MayWrite : kind;
    view_.accesses.push_back({sure, pointer.first, pointer.count});
  }
}

bool ViewBuilder::add_instruction(Copy& copy, Place place, const Instruction& i) {
  if (bind_pointer(copy, i)) {
    return !failed_;
  }
  const InstructionClass is = m_.classes.of(i);
  switch (static_cast<Op>(i.op())) {
    case Op::OpVariable:
      add_variable(copy, place, i);
      break;
    case Op::OpPhi:
      add_join(copy, place, i);
      break;
    case Op::OpLoad:
      add_load(copy, place, i);
      break;
    case Op::OpStore:
      add_store(copy, place, i);
      break;
    case Op::OpUndef:
      copy.known[i[2]] = {};
      break;
    case Op::OpBranch:
    case Op::OpReturn:
    case Op::OpReturnValue:
      break;
    default:
      if (is != InstructionClass::None) {
        add_other(copy, place, i);
      }
      break;
  }
  return !failed_;
}

bool ViewBuilder::bind_pointer(Copy& copy, const Instruction& i) {
  const bool chain = i.is(Op::OpAccessChain) || i.is(Op::OpInBoundsAccessChain);
  const bool element = i.is(Op::OpPtrAccessChain) || i.is(Op::OpInBoundsPtrAccessChain);
  if (i.is(Op::OpVariable) || i.is(Op::OpFunctionParameter) || !slots_.is_logical_pointer(i.result_type())) {
    return false;
  }
  Binding& binding = copy.known[i.result()];
  binding = {};
  if (!chain && !element && !i.is(Op::OpCopyObject)) {
    const Instruction* type = m_.index.type(i.result_type(), Op::OpTypePointer);
    if (is_state((*type)[2])) {
      fail("the address of a variable is chosen at run time");
      return true;
    }
    // Memory by a pointer that is a value: whatever the instruction uses chooses the place.
    Pointer pointer;
    pointer.storage = (*type)[2];
    pointer.type = (*type)[3];
    for (const Id id : used_ids(i)) {
      const Binding used = find(copy, id);
      if (used.value != kNoValue) {
        pointer.addresses.push_back(used.value);
      }
      if (used.pointer) {
        pointer.addresses.insert(pointer.addresses.end(), used.pointer->addresses.begin(),
                                 used.pointer->addresses.end());
      }
    }
    if (i.is(Op::OpPhi) || i.is(Op::OpLoad) || i.is(Op::OpFunctionCall)) {
      fail("a pointer to memory that is chosen by control flow");
    }
    copy.known[i.result()].pointer = std::move(pointer);
    return true;
  }
  Binding base = find(copy, i[3]);
  if (!base.pointer) {
    // Of physical storage the base is a value.
    Pointer pointer;
    pointer.addresses.push_back(base.value);
    base.pointer = std::move(pointer);
  }
  if (element) {
    if (const Value address = value_of(copy, i[4]); address != kNoValue) {
      base.pointer->addresses.push_back(address);
    }
    base.pointer->exact = false;
  }
  for (std::size_t w = element ? 5 : 4; w < i.size(); ++w) {
    slots_.narrow(*base.pointer, i[w], value_of(copy, i[w]));
  }
  if (base.pointer->addresses.size() > kMostAddresses) {
    fail("a pointer of more than " + std::to_string(kMostAddresses) + " indices");
  }
  copy.known[i.result()] = {kNoValue, std::move(base.pointer)};
  return true;
}

void ViewBuilder::add_variable(Copy& copy, Place place, const Instruction& i) {
  const Pointer pointer = slots_.declare(i);
  begin(place);
  view_.operations.back().stores = true;
  use(i.size() > 4 ? value_of(copy, i[4]) : kNoValue);
  view_.operations.back().address = static_cast<std::uint32_t>(view_.uses.size());
  access(i.size() > 4 ? AccessKind::Write : AccessKind::Forget, pointer);
  finish(copy, i, false);
  copy.known[i[2]] = {kNoValue, pointer};
}

void ViewBuilder::add_join(Copy& copy, Place place, const Instruction& phi) {
  Operation& operation = begin(place);
  operation.joins = true;
  for (std::size_t w = 3; w + 1 < phi.size(); w += 2) {
    const Value value = value_of(copy, phi[w]);
    copy.patches.push_back({static_cast<std::uint32_t>(view_.uses.size()), phi[w + 1]});
    view_.uses.push_back(value);
    view_.use_block.push_back(kNoNode);
  }
  finish(copy, phi, true);
}

void ViewBuilder::add_load(Copy& copy, Place place, const Instruction& i) {
  const Binding from = find(copy, i[3]);
  begin(place);
  use(from.value);
  if (from.pointer) {
    use_pointer(*from.pointer);
    access(AccessKind::Read, *from.pointer);
  } else {
    view_.operations.back().storage = static_cast<Word>(spv::StorageClass::PhysicalStorageBuffer);
  }
  finish(copy, i, true);
  if (from.pointer && from.pointer->storage == static_cast<Word>(spv::StorageClass::UniformConstant)) {
    view_.values[view_.operations.back().result].bytes = 0;  // a descriptor
  }
}

void ViewBuilder::add_store(Copy& copy, Place place, const Instruction& i) {
  const Binding to = find(copy, i[1]);
  begin(place).stores = true;
  use(value_of(copy, i[2]));
  view_.operations.back().address = static_cast<std::uint32_t>(view_.uses.size());
  use(to.value);
  if (to.pointer) {
    use_pointer(*to.pointer);
    access(AccessKind::Write, *to.pointer);
  }
  finish(copy, i, false);
}

void ViewBuilder::add_other(Copy& copy, Place place, const Instruction& i) {
  begin(place);
  const bool copies = i.is(Op::OpCopyMemory) || i.is(Op::OpCopyMemorySized);
  const bool writes = makes_untraced(i.op()) || trace_layout(i.op()).hit_object || i.is(Op::OpRayQueryInitializeKHR);
  const std::vector<Id> ids = used_ids(i);
  std::vector<Pointer> pointers;
  for (std::size_t n = 0; n < ids.size(); ++n) {
    Binding used = find(copy, ids[n]);
    use(used.value);
    if (!used.pointer) {
      continue;
    }
    use_pointer(*used.pointer);
    const TypeParts parts = m_.index.parts(used.pointer->type);
    if (copies) {
      access(n == 0 ? AccessKind::Write : AccessKind::Read, *used.pointer);
    } else if (parts.opaque > 0 && n == 0 && writes) {
      access(AccessKind::Write, *used.pointer);
    } else if (parts.opaque > 0 && is_hit_object_read(i.op())) {
      access(AccessKind::Read, *used.pointer);
    } else {
      access(AccessKind::Read, *used.pointer);
      access(AccessKind::MayWrite, *used.pointer);
    }
    pointers.push_back(std::move(*used.pointer));
  }
  const bool has_result = i.result() != 0 && m_.index.type(i.result_type(), Op::OpTypeVoid) == nullptr;
  if (i.is(Op::OpFunctionCall)) {
    view_.notes.emplace_back("a call of a function without a body, or of one chosen at run time, is not followed");
  }
  if (call_kind(i.op())) {
    ViewCall call;
    call.operation = static_cast<std::uint32_t>(view_.operations.size() - 1);
    call.kind = *call_kind(i.op());
    // The older form names the payload by its location.
    if (i.is(Op::OpTraceNV) || i.is(Op::OpTraceMotionNV) || i.is(Op::OpExecuteCallableNV)) {
      const Id last = i[i.size() - 1];
      const auto storage =
          i.is(Op::OpExecuteCallableNV) ? spv::StorageClass::CallableDataKHR : spv::StorageClass::RayPayloadKHR;
      if (const std::optional<Word> location = m_.index.constant(last)) {
        if (const auto payload = slots_.global(m_.index.variable_at(storage, *location))) {
          access(AccessKind::Read, *payload);
          access(AccessKind::MayWrite, *payload);
          pointers.push_back(*payload);
        }
      }
    }
    for (const Pointer& pointer : pointers) {
      if (is_passed(pointer.storage)) {
        call.payload = pointer.first;
        call.payload_slots = pointer.count;
      }
    }
    view_.calls.push_back(call);
  }
  finish(copy, i, has_result);
}

}  // namespace rayreplay::spirv
