#include "capture/spirv/module_index.hpp"

#include <algorithm>

namespace rayreplay::spirv {

using spv::Op;

namespace {

std::uint64_t capped(std::uint64_t a, std::uint64_t b) {
  return a != 0 && b > kMostTypeBytes / a ? kMostTypeBytes : std::min(a * b, kMostTypeBytes);
}

}  // namespace

ModuleIndex::ModuleIndex(const Module& module) : definitions_(module.bound, nullptr) {
  for (const Instruction& i : module.debug) {
    if (i.is(Op::OpName)) {
      names_.emplace(i[1], &i);
    } else if (i.is(Op::OpString)) {
      strings_.emplace(i[1], &i);
    }
  }
  std::unordered_map<Id, Word> locations;
  for (const Instruction& i : module.annotations) {
    if (!i.is(Op::OpDecorate)) {
      continue;
    }
    switch (static_cast<spv::Decoration>(i[2])) {
      case spv::Decoration::BuiltIn:
        built_ins_.emplace(i[1], i[3]);
        break;
      case spv::Decoration::Location:
        locations.emplace(i[1], i[3]);
        break;
      case spv::Decoration::Volatile:
        volatile_.insert(i[1]);
        break;
      case spv::Decoration::BufferBlock:
        buffer_blocks_.insert(i[1]);
        break;
      default:
        break;
    }
  }
  const auto define = [&](const Instruction& i) {
    if (const Id id = i.result(); id != 0 && id < definitions_.size() && definitions_[id] == nullptr) {
      definitions_[id] = &i;
    }
  };
  for (const Instruction& i : module.globals) {
    see_type(i);
    define(i);
    if (i.is(Op::OpVariable)) {
      if (const auto at = locations.find(i[2]); at != locations.end()) {
        located_.emplace(std::pair(i[3], at->second), i[2]);
      }
    }
  }
  for (const Function& function : module.functions) {
    for (const Instruction& i : function.body) {
      define(i);
    }
  }
}

void ModuleIndex::see_type(const Instruction& i) {
  if (!(i.op() >= number(Op::OpTypeVoid) && i.op() <= number(Op::OpTypeForwardPointer)) &&
      !i.is(Op::OpTypeAccelerationStructureKHR) && !i.is(Op::OpTypeRayQueryKHR) && !i.is(Op::OpTypeHitObjectNV) &&
      i.op() != kOpTypeHitObjectEXT) {
    return;
  }
  if (i.is(Op::OpTypeForwardPointer) || i[1] >= definitions_.size() || definitions_[i[1]] != nullptr) {
    return;
  }
  TypeParts type;
  // Only types that are defined before: no type is part of itself.
  const auto defined = [&](std::size_t from, std::size_t to) {
    for (std::size_t w = from; w < to; ++w) {
      if (!parts_.contains(i[w])) {
        return false;
      }
    }
    return true;
  };
  const auto repeat = [&](Id element, std::uint64_t count) {
    const TypeParts one = parts(element);
    type.bytes = capped(one.bytes, count);
    type.parts = std::max<std::uint64_t>(capped(one.parts, count), 1);
    type.opaque = static_cast<std::uint32_t>(std::min<std::uint64_t>(capped(one.opaque, count), 0xFFFFFFFF));
    type.depth = one.depth + 1;
    type.count = count;
  };
  switch (static_cast<Op>(i.op())) {
    case Op::OpTypeBool:
      type.bytes = 1;
      break;
    case Op::OpTypeInt:
    case Op::OpTypeFloat:
      type.bytes = std::min<std::uint64_t>(i[2] / 8, 64);
      break;
    case Op::OpTypeVector:
    case Op::OpTypeMatrix:
    case Op::OpTypeArray:
      if (!defined(2, 3)) {
        return;
      }
      repeat(i[2], i.is(Op::OpTypeArray) ? length(i[3]) : i[3]);
      break;
    case Op::OpTypeStruct:
      if (!defined(2, i.size())) {
        return;
      }
      type.parts = 0;
      type.count = i.size() - 2;
      for (std::size_t m = 2; m < i.size(); ++m) {
        const TypeParts member = parts(i[m]);
        type.bytes = std::min(type.bytes + member.bytes, kMostTypeBytes);
        type.parts = std::min(type.parts + member.parts, kMostTypeBytes);
        type.opaque = std::max(type.opaque + member.opaque, type.opaque);
        type.depth = std::max(type.depth, member.depth + 1);
      }
      type.parts = std::max<std::uint64_t>(type.parts, 1);
      break;
    case Op::OpTypePointer:
      type.bytes = i[2] == static_cast<Word>(spv::StorageClass::PhysicalStorageBuffer) ? 8 : 0;
      break;
    case Op::OpTypeAccelerationStructureKHR:
      type.bytes = 8;
      break;
    case Op::OpTypeRayQueryKHR:
    case Op::OpTypeHitObjectNV:
      type.opaque = 1;
      break;
    default:
      type.opaque = i.op() == kOpTypeHitObjectEXT ? 1 : 0;
      break;
  }
  parts_[i[1]] = type;
  definitions_[i[1]] = &i;
}

std::uint64_t ModuleIndex::length(Id array) const {
  const Instruction* constant = definition(array);
  const bool known = constant != nullptr && (constant->is(Op::OpConstant) || constant->is(Op::OpSpecConstant));
  return known ? (*constant)[3] : 1;
}

const Instruction* ModuleIndex::type(Id id, Op op) const {
  const Instruction* found = definition(id);
  return found != nullptr && found->is(op) ? found : nullptr;
}

Id ModuleIndex::type_of(Id value) const {
  const Instruction* found = definition(value);
  return found == nullptr ? 0 : found->result_type();
}

bool ModuleIndex::is_constant(Id id) const {
  const Instruction* found = definition(id);
  return found != nullptr && (found->is(Op::OpUndef) || (found->op() >= number(Op::OpConstantTrue) &&
                                                         found->op() <= number(Op::OpSpecConstantOp)));
}

std::optional<Word> ModuleIndex::constant(Id id) const {
  const Instruction* found = definition(id);
  if (found == nullptr) {
    return std::nullopt;
  }
  const bool whole = type(found->result_type(), Op::OpTypeInt) != nullptr;
  if (whole && found->is(Op::OpConstant) && found->size() == 4) {
    return (*found)[3];
  }
  return whole && found->is(Op::OpConstantNull) ? std::optional<Word>(0) : std::nullopt;
}

TypeParts ModuleIndex::parts(Id type) const {
  const auto found = parts_.find(type);
  return found == parts_.end() ? TypeParts{} : found->second;
}

Id ModuleIndex::part_type(Id type, std::uint64_t index) const {
  const Instruction* i = definition(type);
  if (i == nullptr || !parts_.contains(type)) {
    return 0;
  }
  if (i->is(Op::OpTypeStruct)) {
    return index < i->size() - 2 ? (*i)[index + 2] : 0;
  }
  const bool repeated =
      i->is(Op::OpTypeVector) || i->is(Op::OpTypeMatrix) || i->is(Op::OpTypeArray) || i->is(Op::OpTypeRuntimeArray);
  return repeated ? (*i)[2] : 0;
}

std::string ModuleIndex::name(Id id) const {
  const auto found = names_.find(id);
  return found == names_.end() ? std::string() : found->second->string(2);
}

std::string ModuleIndex::string(Id id) const {
  const auto found = strings_.find(id);
  return found == strings_.end() ? std::string() : found->second->string(2);
}

std::optional<spv::BuiltIn> ModuleIndex::built_in(Id variable) const {
  const auto found = built_ins_.find(variable);
  return found == built_ins_.end() ? std::nullopt : std::optional(static_cast<spv::BuiltIn>(found->second));
}

bool ModuleIndex::is_volatile(Id variable) const {
  return volatile_.contains(variable);
}

bool ModuleIndex::is_buffer_block(Id type) const {
  return buffer_blocks_.contains(type);
}

Id ModuleIndex::variable_at(spv::StorageClass storage, Word location) const {
  const auto found = located_.find({static_cast<Word>(storage), location});
  return found == located_.end() ? 0 : found->second;
}

}  // namespace rayreplay::spirv
