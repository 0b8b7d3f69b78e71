#include <array>

#include "capture/instrument/passes/passes.hpp"

namespace rayreplay::instrument {

using spv::Op;

namespace {

constexpr Word kHint = 1;
constexpr std::size_t kSet = 3;
constexpr std::size_t kNumber = 4;
constexpr std::size_t kOperand = 5;

/// Whether shaders of this stage may trace rays.
bool traces(Stage stage) {
  return stage == Stage::RayGeneration || stage == Stage::ClosestHit || stage == Stage::Miss;
}

bool ends_block(const Instruction& i) {
  switch (static_cast<Op>(i.op())) {
    case Op::OpBranch:
    case Op::OpBranchConditional:
    case Op::OpSwitch:
    case Op::OpReturn:
    case Op::OpReturnValue:
    case Op::OpKill:
    case Op::OpUnreachable:
    case Op::OpTerminateInvocation:
    case Op::OpIgnoreIntersectionKHR:
    case Op::OpTerminateRayKHR:
    case Op::OpFunctionEnd:
      return true;
    default:
      return false;
  }
}

}  // namespace

Markers::Markers(Rewriter& rewriter) : rewriter_(rewriter) {
  for (const Instruction& i : rewriter.module.imports) {
    if (rewriter.options.record && i.is(Op::OpExtInstImport) && i.string(2) == "NonSemantic.rayreplay") {
      sets_.insert(i[1]);
    }
  }
}

std::string Markers::fault(const Place& place, const Instruction& marker, const Instruction* next) const {
  if (marker[kNumber] != kHint) {
    return "instruction " + std::to_string(marker[kNumber]) + " is unknown, expected 1 (Hint)";
  }
  if (marker.size() != kOperand + 1) {
    return "Hint has " + std::to_string(marker.size() < kOperand ? 0 : marker.size() - kOperand) +
           " operands, expected 1";
  }
  const Instruction* type = rewriter_.global(rewriter_.analysis.type_of(marker[kOperand]));
  if (type == nullptr || !type->is(Op::OpTypeInt) || (*type)[2] != 32) {
    return "the operand of Hint is no 32-bit integer";
  }
  for (const std::uint32_t shader : place.shaders) {
    if (!traces(rewriter_.analysis.shaders[shader].stage)) {
      return "entry point " + rewriter_.analysis.shaders[shader].name + " cannot trace rays";
    }
  }
  // A call may stand neither outside a block nor before its phis and variables.
  if (!in_block_ || next == nullptr || next->is(Op::OpPhi) || next->is(Op::OpVariable)) {
    return "it stands where no call may stand";
  }
  return {};
}

void Markers::before(const Place& place, const Instruction& instruction, const Instruction* next) {
  if (sets_.empty()) {
    return;
  }
  if (instruction.is(Op::OpLabel)) {
    in_block_ = true;
  } else if (ends_block(instruction)) {
    in_block_ = false;
  } else if (instruction.is(Op::OpExtInst) && sets_.contains(instruction[kSet])) {
    if (const std::string why = fault(place, instruction, next); !why.empty()) {
      rewriter_.note("a marker of NonSemantic.rayreplay is not recorded: " + why);
      return;
    }
    const std::array<Id, 1> arguments = {rewriter_.as_uint(place.out, instruction[kOperand])};
    rewriter_.probe(place.out, "rr_hint", place.shaders, arguments);
  }
}

}  // namespace rayreplay::instrument
