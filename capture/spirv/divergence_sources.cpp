#include "capture/spirv/divergence_sources.hpp"

#include "capture/spirv/variable_slots.hpp"

namespace rayreplay::spirv {

using spv::Op;
using spv::StorageClass;

namespace {

constexpr ResultRule kDivergent{Level::Divergent, false};
constexpr ResultRule kGroup{Level::Group, false};

Level level_of(std::optional<spv::BuiltIn> built_in) {
  if (!built_in) {
    return Level::Divergent;
  }
  switch (*built_in) {
    case spv::BuiltIn::LaunchSizeKHR:
    case spv::BuiltIn::NumWorkgroups:
    case spv::BuiltIn::WorkgroupSize:
    case spv::BuiltIn::WarpsPerSMNV:
    case spv::BuiltIn::SMCountNV:
      return Level::Launch;
    case spv::BuiltIn::WorkgroupId:
    case spv::BuiltIn::SubgroupId:
    case spv::BuiltIn::SubgroupSize:
    case spv::BuiltIn::NumSubgroups:
    case spv::BuiltIn::SMIDNV:
    case spv::BuiltIn::WarpIDNV:
    case spv::BuiltIn::DeviceIndex:
    case spv::BuiltIn::ViewIndex:
      return Level::Group;
    default:
      return Level::Divergent;
  }
}

bool is_volatile(const Operation& operation, const Instruction& i, const Analysed& module) {
  constexpr Word kVolatile = 1;  // of memory operands
  return (i.is(Op::OpLoad) && (i[4] & kVolatile) != 0) || module.index.is_volatile(operation.root);
}

/// Memory that a launch does not write: the same for every thread at the same address. The rest may change meanwhile.
ResultRule memory_rule(const Operation& operation, const Instruction& i, const Analysed& module) {
  const auto storage = static_cast<StorageClass>(operation.storage);
  switch (storage) {
    case StorageClass::Input:
      return {level_of(module.index.built_in(operation.root)), true};
    case StorageClass::UniformConstant:
    case StorageClass::PushConstant:
      return {Level::Launch, true};
    case StorageClass::Uniform: {
      const Instruction* variable = module.index.definition(operation.root);
      const Instruction* pointer =
          variable == nullptr ? nullptr : module.index.type(variable->result_type(), Op::OpTypePointer);
      Id type = pointer == nullptr ? 0 : (*pointer)[3];
      if (module.index.type(type, Op::OpTypeArray) != nullptr ||
          module.index.type(type, Op::OpTypeRuntimeArray) != nullptr) {
        type = module.index.part_type(type, 0);
      }
      const bool read_only = pointer != nullptr && !module.index.is_buffer_block(type);
      return is_volatile(operation, i, module) ? kDivergent
                                               : ResultRule{read_only ? Level::Launch : Level::Group, true};
    }
    case StorageClass::StorageBuffer:
    case StorageClass::PhysicalStorageBuffer:
    case StorageClass::Workgroup:
    case StorageClass::Image:
      return is_volatile(operation, i, module) ? kDivergent : ResultRule{Level::Group, true};
    default:
      return is_state(operation.storage) ? ResultRule{Level::Launch, true} : kDivergent;
  }
}

constexpr Word kReduce = 0;  // of group operations

ResultRule group_rule(const Instruction& i) {
  switch (static_cast<Op>(i.op())) {
    case Op::OpGroupNonUniformAll:
    case Op::OpGroupNonUniformAny:
    case Op::OpGroupNonUniformAllEqual:
    case Op::OpGroupNonUniformBroadcast:
    case Op::OpGroupNonUniformBroadcastFirst:
    case Op::OpGroupNonUniformBallot:
    case Op::OpSubgroupBallotKHR:
    case Op::OpSubgroupFirstInvocationKHR:
    case Op::OpSubgroupReadInvocationKHR:
    case Op::OpSubgroupAllKHR:
    case Op::OpSubgroupAnyKHR:
    case Op::OpSubgroupAllEqualKHR:
      return kGroup;
    case Op::OpGroupNonUniformBallotBitExtract:
    case Op::OpGroupNonUniformBallotFindLSB:
    case Op::OpGroupNonUniformBallotFindMSB:
      return {Level::Group, true};
    case Op::OpGroupNonUniformBallotBitCount:
      return i[4] == kReduce ? ResultRule{Level::Group, true} : kDivergent;
    case Op::OpGroupNonUniformIAdd:
    case Op::OpGroupNonUniformFAdd:
    case Op::OpGroupNonUniformIMul:
    case Op::OpGroupNonUniformFMul:
    case Op::OpGroupNonUniformSMin:
    case Op::OpGroupNonUniformUMin:
    case Op::OpGroupNonUniformFMin:
    case Op::OpGroupNonUniformSMax:
    case Op::OpGroupNonUniformUMax:
    case Op::OpGroupNonUniformFMax:
    case Op::OpGroupNonUniformBitwiseAnd:
    case Op::OpGroupNonUniformBitwiseOr:
    case Op::OpGroupNonUniformBitwiseXor:
    case Op::OpGroupNonUniformLogicalAnd:
    case Op::OpGroupNonUniformLogicalOr:
    case Op::OpGroupNonUniformLogicalXor:
      return i[4] == kReduce ? kGroup : kDivergent;
    default:
      return kDivergent;
  }
}

}  // namespace

ResultRule result_rule(const Operation& operation, const Instruction& i, const Analysed& module) {
  switch (module.classes.of(i)) {
    case InstructionClass::Arithmetic:
    case InstructionClass::Special:
      return {Level::Launch, true};
    case InstructionClass::Move:
      return operation.storage != kNoStorage ? memory_rule(operation, i, module) : ResultRule{Level::Launch, true};
    case InstructionClass::Load:
      return i.is(Op::OpLoad) ? memory_rule(operation, i, module) : kDivergent;
    case InstructionClass::Texture:
      return {Level::Group, true};
    case InstructionClass::Other:
      break;
    default:
      return operation.joins ? ResultRule{Level::Launch, true} : kDivergent;
  }
  switch (static_cast<Op>(i.op())) {
    case Op::OpArrayLength:
    case Op::OpConvertUToAccelerationStructureKHR:
      return {Level::Launch, true};
    default:
      return group_rule(i);
  }
}

}  // namespace rayreplay::spirv
