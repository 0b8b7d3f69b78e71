#include "capture/spirv/variable_slots.hpp"

#include <algorithm>

namespace rayreplay::spirv {

using spv::Op;
using spv::StorageClass;

bool is_state(Word storage) {
  switch (static_cast<StorageClass>(storage)) {
    case StorageClass::Function:
    case StorageClass::Private:
    case StorageClass::RayPayloadKHR:
    case StorageClass::IncomingRayPayloadKHR:
    case StorageClass::CallableDataKHR:
    case StorageClass::IncomingCallableDataKHR:
      return true;
    default:
      return false;
  }
}

bool is_passed(Word storage) {
  return storage == static_cast<Word>(StorageClass::RayPayloadKHR) ||
         storage == static_cast<Word>(StorageClass::CallableDataKHR) ||
         storage == static_cast<Word>(StorageClass::IncomingRayPayloadKHR) ||
         storage == static_cast<Word>(StorageClass::IncomingCallableDataKHR);
}

bool VariableSlots::is_logical_pointer(Id type) const {
  const Instruction* pointer = index_.type(type, Op::OpTypePointer);
  return pointer != nullptr && (*pointer)[2] != static_cast<Word>(StorageClass::PhysicalStorageBuffer);
}

Pointer VariableSlots::declare(const Instruction& variable) {
  Pointer pointer;
  pointer.storage = variable[3];
  pointer.root = variable[2];
  const Instruction* type = index_.type(variable[1], Op::OpTypePointer);
  pointer.type = type == nullptr ? 0 : (*type)[3];
  if (!is_state(pointer.storage)) {
    return pointer;
  }
  const TypeParts parts = index_.parts(pointer.type);
  const bool incoming = pointer.storage == static_cast<Word>(StorageClass::IncomingRayPayloadKHR) ||
                        pointer.storage == static_cast<Word>(StorageClass::IncomingCallableDataKHR);
  const SlotInfo info{parts.bytes, parts.opaque, pointer.root, static_cast<StorageClass>(pointer.storage),
                      incoming || variable.size() > 4};
  pointer.first = static_cast<Slot>(view_.slots.size());
  constexpr std::uint32_t kMostDepth = 64;
  if (parts.parts <= kMostPartsOfVariable && parts.depth <= kMostDepth) {
    flatten(pointer.type, parts.opaque, info);
  } else {
    view_.slots.push_back(info);
  }
  pointer.count = static_cast<std::uint32_t>(view_.slots.size() - pointer.first);
  return pointer;
}

void VariableSlots::flatten(Id type, std::uint32_t opaque, const SlotInfo& like) {
  const std::uint64_t count = index_.parts(type).count;
  if (count == 0) {
    SlotInfo slot = like;
    slot.bytes = index_.parts(type).bytes;
    slot.opaque = opaque;
    view_.slots.push_back(slot);
    return;
  }
  for (std::uint64_t p = 0; p < count; ++p) {
    const Id part = index_.part_type(type, p);
    flatten(part, index_.parts(part).opaque, like);
  }
}

std::optional<Pointer> VariableSlots::global(Id id) {
  if (const auto found = globals_.find(id); found != globals_.end()) {
    return found->second;
  }
  const Instruction* variable = index_.definition(id);
  if (variable == nullptr || !variable->is(Op::OpVariable) ||
      (*variable)[3] == static_cast<Word>(StorageClass::Function)) {
    return std::nullopt;
  }
  return globals_.emplace(id, declare(*variable)).first->second;
}

void VariableSlots::narrow(Pointer& pointer, Id index, Value address) const {
  if (address != kNoValue) {
    pointer.addresses.push_back(address);
  }
  const std::uint64_t count = index_.parts(pointer.type).count;
  const std::optional<Word> constant = index_.constant(index);
  const std::uint64_t slots = index_.parts(pointer.type).parts;
  const std::uint64_t at = constant.value_or(0);
  if (pointer.count != 0 && pointer.exact) {
    if (!constant || at >= count || slots != pointer.count) {
      pointer.exact = false;
    } else {
      std::uint64_t first = 0;
      if (index_.type(pointer.type, Op::OpTypeStruct) != nullptr) {
        for (std::uint64_t m = 0; m < at; ++m) {
          first += index_.parts(index_.part_type(pointer.type, m)).parts;
        }
      } else {
        first = at * index_.parts(index_.part_type(pointer.type, 0)).parts;
      }
      pointer.first += static_cast<Slot>(first);
      pointer.count = static_cast<std::uint32_t>(index_.parts(index_.part_type(pointer.type, at)).parts);
    }
  }
  pointer.type = index_.part_type(pointer.type, at);
}

}  // namespace rayreplay::spirv
