#include "capture/profile/place_names.hpp"

#include <vector>

#include <fmt/format.h>

namespace rayreplay::profile {

using spv::Op;

namespace {

constexpr std::size_t kMostPointerSteps = 64;
constexpr const char* kUnnamed = "a place that the module does not name";

/// The pointer of a store or an atomic; 0 for other instructions.
spirv::Id stored_or_atomic(const spirv::Instruction& i) {
  switch (static_cast<Op>(i.op())) {
    case Op::OpStore:
    case Op::OpAtomicStore:
    case Op::OpAtomicFlagClear:
      return i[1];
    case Op::OpAtomicLoad:
    case Op::OpAtomicExchange:
    case Op::OpAtomicCompareExchange:
    case Op::OpAtomicCompareExchangeWeak:
    case Op::OpAtomicIIncrement:
    case Op::OpAtomicIDecrement:
    case Op::OpAtomicIAdd:
    case Op::OpAtomicISub:
    case Op::OpAtomicSMin:
    case Op::OpAtomicUMin:
    case Op::OpAtomicSMax:
    case Op::OpAtomicUMax:
    case Op::OpAtomicAnd:
    case Op::OpAtomicOr:
    case Op::OpAtomicXor:
    case Op::OpAtomicFlagTestAndSet:
    case Op::OpAtomicFMinEXT:
    case Op::OpAtomicFMaxEXT:
    case Op::OpAtomicFAddEXT:
      return i[3];
    default:
      return 0;
  }
}

}  // namespace

std::string branch_kind(const spirv::Instruction& i) {
  return i.is(Op::OpBranchConditional) ? "branch" : i.is(Op::OpSwitch) ? "switch" : "";
}

std::string load_kind(const spirv::Instruction& i) {
  if (i.is(Op::OpLoad)) {
    return "load";
  }
  if (i.is(Op::OpImageRead) || i.is(Op::OpImageFetch) || i.is(Op::OpImageSparseRead) || i.is(Op::OpImageSparseFetch)) {
    return "image read";
  }
  const spirv::Word op = i.op();
  return (op >= spirv::number(Op::OpImageSampleImplicitLod) && op < spirv::number(Op::OpImageRead)) ||
                 (op >= spirv::number(Op::OpImageSparseSampleImplicitLod) &&
                  op <= spirv::number(Op::OpImageSparseDrefGather))
             ? "sample"
             : "";
}

PlaceNames::PlaceNames(const spirv::Analysed& module) : analysed_(module) {
  for (const spirv::Instruction& i : module.module.debug) {
    if (i.is(Op::OpMemberName)) {
      members_[{i[1], i[2]}] = i.string(3);
    }
  }
  for (const spirv::Instruction& i : module.module.annotations) {
    if (i.is(Op::OpDecorate) && i.size() > 3) {
      if (i[2] == static_cast<spirv::Word>(spv::Decoration::DescriptorSet)) {
        sets_[i[1]] = i[3];
      } else if (i[2] == static_cast<spirv::Word>(spv::Decoration::Binding)) {
        bindings_[i[1]] = i[3];
      }
    }
  }
}

std::string PlaceNames::of(const spirv::Instruction& i) const {
  switch (static_cast<Op>(i.op())) {
    case Op::OpBranchConditional:
    case Op::OpSwitch:
      return of_value(i[1], Fallback::None);
    case Op::OpLoad:
      return of_pointer(i[3], Fallback::None);
    default:
      return of_value(i[3], Fallback::None);
  }
}

std::string PlaceNames::place_of(const spirv::Instruction& load) const {
  std::string name =
      load.is(Op::OpLoad) ? of_pointer(load[3], Fallback::Interface) : of_value(load[3], Fallback::Interface);
  return name.empty() ? kUnnamed : name;
}

std::string PlaceNames::accessed_by(const spirv::Instruction& i) const {
  if (!load_kind(i).empty()) {
    return place_of(i);
  }
  std::string name;
  if (i.is(Op::OpImageWrite)) {
    name = of_value(i[1], Fallback::Interface);
  } else if (const spirv::Id pointer = stored_or_atomic(i); pointer != 0) {
    const spirv::Instruction* from = analysed_.index.definition(pointer);
    const bool texel = from != nullptr && from->is(Op::OpImageTexelPointer);
    name = of_pointer(texel ? (*from)[3] : pointer, Fallback::Interface);
  } else {
    return {};
  }
  return name.empty() ? kUnnamed : name;
}

/// A value's own name, or that of the variable that it was loaded from.
std::string PlaceNames::of_value(spirv::Id value, Fallback fallback) const {
  for (std::size_t step = 0; step < kMostPointerSteps; ++step) {
    std::string name = analysed_.index.name(value);
    const spirv::Instruction* i = analysed_.index.definition(value);
    if (!name.empty() || i == nullptr) {
      return name;
    }
    if (i->is(Op::OpLoad)) {
      return of_pointer((*i)[3], fallback);
    }
    if (!i->is(Op::OpSampledImage) && !i->is(Op::OpImage) && !i->is(Op::OpCopyObject)) {
      return {};
    }
    value = (*i)[3];
  }
  return {};
}

std::string PlaceNames::of_pointer(spirv::Id pointer, Fallback fallback) const {
  std::vector<const spirv::Instruction*> chains;
  const spirv::Instruction* i = analysed_.index.definition(pointer);
  while (i != nullptr && chains.size() < kMostPointerSteps &&
         (i->is(Op::OpAccessChain) || i->is(Op::OpInBoundsAccessChain) || i->is(Op::OpCopyObject))) {
    if (!i->is(Op::OpCopyObject)) {
      chains.push_back(i);
    }
    pointer = (*i)[3];
    i = analysed_.index.definition(pointer);
  }
  const spirv::Instruction* type = analysed_.index.type(analysed_.index.type_of(pointer), Op::OpTypePointer);
  spirv::Id of = type == nullptr ? 0 : (*type)[3];
  std::string name = analysed_.index.name(pointer);
  name = name.empty() ? analysed_.index.name(of) : name;
  const bool unnamed = name.empty() && fallback == Fallback::Interface;
  bool named_member = false;
  for (auto chain = chains.rbegin(); chain != chains.rend(); ++chain) {
    for (std::size_t w = 4; w < (*chain)->size(); ++w) {
      const std::optional<spirv::Word> index = analysed_.index.constant((**chain)[w]);
      if (analysed_.index.type(of, Op::OpTypeStruct) != nullptr && index) {
        const auto member = members_.find({of, *index});
        const bool has_name = member != members_.end() && !member->second.empty();
        named_member = named_member || (has_name && name.empty());
        name += (name.empty() ? "" : ".") + (has_name ? member->second : fmt::format("{}", *index));
      } else {
        name += index ? fmt::format("[{}]", *index) : "[]";
      }
      of = analysed_.index.part_type(of, index.value_or(0));
    }
  }
  if (!unnamed) {
    return name;
  }
  const std::string variable = of_variable(pointer);
  // A first index of a structure is a member's number; an array of descriptors begins with an element.
  const bool numbered = !name.empty() && !named_member && name.front() != '[';
  return name.empty() ? variable : fmt::format("{}{} of {}", numbered ? "member " : "", name, variable);
}

/// The name by the shader's interface, of a variable or of a pointer that is none.
std::string PlaceNames::of_variable(spirv::Id variable) const {
  const spirv::Instruction* i = analysed_.index.definition(variable);
  const spirv::Instruction* type = analysed_.index.type(analysed_.index.type_of(variable), Op::OpTypePointer);
  if (const auto binding = bindings_.find(variable); binding != bindings_.end()) {
    const auto set = sets_.find(variable);
    return fmt::format("binding {}/{}", set == sets_.end() ? 0 : set->second, binding->second);
  }
  switch (type == nullptr ? spv::StorageClass::Generic : static_cast<spv::StorageClass>((*type)[2])) {
    case spv::StorageClass::PushConstant:
      return "the push constants";
    case spv::StorageClass::ShaderRecordBufferKHR:
      return "the shader record";
    case spv::StorageClass::PhysicalStorageBuffer:
      return "a device address";
    default:
      return i != nullptr && i->is(Op::OpVariable) ? "a variable" : "a pointer";
  }
}

}  // namespace rayreplay::profile
