#include "capture/spirv/instruction_class.hpp"

#include <algorithm>
#include <array>
#include <iterator>

#include <spirv/unified1/GLSL.std.450.h>

#include "capture/spirv/trace_calls.hpp"

namespace rayreplay::spirv {

using spv::Op;
using Class = InstructionClass;

namespace {

struct Row {
  Word first, last;  ///< opcodes
  Class is;
};

constexpr Row one(Op op, Class is) {
  return {number(op), number(op), is};
}
constexpr Row range(Op first, Op last, Class is) {
  return {number(first), number(last), is};
}

/// By rising opcode. Opcodes in no row are Other.
constexpr Row kRows[] = {
    range(Op::OpNop, Op::OpUndef, Class::None),
    one(Op::OpLine, Class::None),
    range(Op::OpFunction, Op::OpFunctionEnd, Class::None),
    one(Op::OpFunctionCall, Class::Control),
    one(Op::OpVariable, Class::None),
    one(Op::OpImageTexelPointer, Class::Texture),
    one(Op::OpLoad, Class::Load),
    range(Op::OpStore, Op::OpCopyMemorySized, Class::Store),
    range(Op::OpAccessChain, Op::OpInBoundsAccessChain, Class::Move),
    one(Op::OpPtrAccessChain, Class::Arithmetic),
    one(Op::OpInBoundsPtrAccessChain, Class::Arithmetic),
    range(Op::OpVectorExtractDynamic, Op::OpVectorInsertDynamic, Class::Arithmetic),
    range(Op::OpVectorShuffle, Op::OpCopyObject, Class::Move),
    one(Op::OpTranspose, Class::Arithmetic),
    range(Op::OpSampledImage, Op::OpImageQuerySamples, Class::Texture),
    range(Op::OpConvertFToU, Op::OpGenericCastToPtrExplicit, Class::Arithmetic),
    one(Op::OpBitcast, Class::Move),
    range(Op::OpSNegate, Op::OpFwidthCoarse, Class::Arithmetic),
    one(Op::OpPhi, Class::Move),
    range(Op::OpLoopMerge, Op::OpLabel, Class::None),
    range(Op::OpBranch, Op::OpUnreachable, Class::Control),
    range(Op::OpImageSparseSampleImplicitLod, Op::OpImageSparseTexelsResident, Class::Texture),
    one(Op::OpNoLine, Class::None),
    one(Op::OpImageSparseRead, Class::Texture),
    one(Op::OpCopyLogical, Class::Move),
    one(Op::OpTerminateInvocation, Class::Control),
    range(Op::OpTraceRayKHR, Op::OpExecuteCallableKHR, Class::Trace),
    range(Op::OpIgnoreIntersectionKHR, Op::OpTerminateRayKHR, Class::Control),
    range(Op::OpSDot, Op::OpSUDotAccSat, Class::Arithmetic),
    range(Op::OpRayQueryInitializeKHR, Op::OpRayQueryProceedKHR, Class::Trace),
    one(Op::OpHitObjectTraceRayMotionNV, Class::Trace),
    one(Op::OpHitObjectTraceRayNV, Class::Trace),
    one(Op::OpHitObjectExecuteShaderNV, Class::Trace),
    one(Op::OpReorderThreadWithHitObjectNV, Class::Trace),
    one(Op::OpReorderThreadWithHintNV, Class::Trace),
    one(Op::OpEmitMeshTasksEXT, Class::Control),
    {kOpHitObjectReorderExecuteShaderEXT, kOpHitObjectTraceMotionReorderExecuteEXT, Class::Trace},
    {kOpReorderThreadWithHintEXT, kOpHitObjectTraceRayMotionEXT, Class::Trace},
    {kOpHitObjectExecuteShaderEXT, kOpHitObjectExecuteShaderEXT, Class::Trace},
    one(Op::OpReportIntersectionKHR, Class::Trace),
    range(Op::OpIgnoreIntersectionNV, Op::OpTerminateRayNV, Class::Control),
    one(Op::OpTraceNV, Class::Trace),
    range(Op::OpTraceMotionNV, Op::OpTraceRayMotionNV, Class::Trace),
    one(Op::OpExecuteCallableNV, Class::Trace),
};

constexpr bool sorted() {
  for (std::size_t i = 0; i + 1 < std::size(kRows); ++i) {
    if (kRows[i].first > kRows[i].last || kRows[i].last >= kRows[i + 1].first) {
      return false;
    }
  }
  return true;
}
static_assert(sorted());

Class class_of_opcode(Word op) {
  const Row* row = std::partition_point(std::begin(kRows), std::end(kRows), [op](const Row& r) { return r.last < op; });
  return row != std::end(kRows) && row->first <= op ? row->is : Class::Other;
}

constexpr Word kMostComponents = 16;

/// Works on each component of its result.
bool by_component(const Instruction& i) {
  return i.is(Op::OpExtInst) || i.is(Op::OpLoad) ||
         (i.op() >= number(Op::OpConvertFToU) && i.op() <= number(Op::OpBitCount));
}

/// The operand whose components decide where the result has fewer: the place among the words; 0: none.
std::size_t reduced_operand(const Instruction& i, Id glsl) {
  constexpr std::size_t kFirst = 3, kSecond = 4, kOfFunction = 5;
  switch (static_cast<Op>(i.op())) {
    case Op::OpStore:
      return 2;
    case Op::OpDot:
    case Op::OpMatrixTimesVector:
      return kFirst;
    case Op::OpVectorTimesMatrix:
      return kSecond;
    case Op::OpExtInst: {
      const bool reduces = i[3] == glsl && (i[4] == GLSLstd450Length || i[4] == GLSLstd450Distance);
      return reduces ? kOfFunction : 0;
    }
    default:
      return 0;
  }
}

/// Of GLSL.std.450's functions.
Class class_of_function(Word function) {
  switch (function) {
    case GLSLstd450Sin:
    case GLSLstd450Cos:
    case GLSLstd450Tan:
    case GLSLstd450Asin:
    case GLSLstd450Acos:
    case GLSLstd450Atan:
    case GLSLstd450Sinh:
    case GLSLstd450Cosh:
    case GLSLstd450Tanh:
    case GLSLstd450Asinh:
    case GLSLstd450Acosh:
    case GLSLstd450Atanh:
    case GLSLstd450Atan2:
    case GLSLstd450Pow:
    case GLSLstd450Exp:
    case GLSLstd450Log:
    case GLSLstd450Exp2:
    case GLSLstd450Log2:
    case GLSLstd450Sqrt:
    case GLSLstd450InverseSqrt:
    case GLSLstd450Length:
    case GLSLstd450Distance:
    case GLSLstd450Normalize:
      return Class::Special;
    case GLSLstd450InterpolateAtCentroid:
    case GLSLstd450InterpolateAtSample:
    case GLSLstd450InterpolateAtOffset:
      return Class::Load;
    default:
      return Class::Arithmetic;
  }
}

}  // namespace

std::string_view to_string(InstructionClass of) {
  constexpr std::array<std::string_view, kInstructionClasses> kNames = {
      "arithmetic", "special", "load", "store", "texture", "control", "trace", "other", "move", "none"};
  return kNames[static_cast<std::size_t>(of)];
}

std::string_view to_string(CallKind kind) {
  constexpr std::array<std::string_view, 7> kNames = {
      "trace", "execute", "reorder", "callable", "report", "reorder + execute", "trace + reorder + execute"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::optional<CallKind> call_kind(Word op) {
  switch (op) {
    case number(Op::OpHitObjectExecuteShaderNV):
    case kOpHitObjectExecuteShaderEXT:
      return CallKind::Execute;
    case number(Op::OpReorderThreadWithHintNV):
    case number(Op::OpReorderThreadWithHitObjectNV):
    case kOpReorderThreadWithHintEXT:
    case kOpReorderThreadWithHitObjectEXT:
      return CallKind::Reorder;
    case number(Op::OpExecuteCallableKHR):
    case number(Op::OpExecuteCallableNV):
      return CallKind::Callable;
    case number(Op::OpReportIntersectionKHR):
      return CallKind::Report;
    case kOpHitObjectReorderExecuteShaderEXT:
      return CallKind::ReorderExecute;
    case kOpHitObjectTraceReorderExecuteEXT:
    case kOpHitObjectTraceMotionReorderExecuteEXT:
      return CallKind::TraceReorderExecute;
    default:
      break;
  }
  return is_trace_call(op) ? std::optional(CallKind::Trace) : std::nullopt;
}

Classifier::Classifier(const Module& module) {
  for (const Instruction& i : module.imports) {
    const std::string name = i.string(2);
    if (name == "GLSL.std.450") {
      glsl_ = i[1];
    } else if (name.starts_with("NonSemantic.") || name.starts_with("OpenCL.DebugInfo") || name == "DebugInfo") {
      nonsemantic_.insert(i[1]);
    }
  }
  for (const Instruction& i : module.globals) {
    see(i);
  }
  for (const Function& function : module.functions) {
    for (const Instruction& i : function.body) {
      see(i);
    }
  }
}

void Classifier::see(const Instruction& i) {
  if (const Id type = i.result_type(); type != 0 && components_.contains(type)) {
    types_.emplace(i.result(), type);
  }
  switch (static_cast<Op>(i.op())) {
    case Op::OpTypeVector:
      components_[i[1]] = std::clamp(i[3], 1U, kMostComponents);
      break;
    case Op::OpTypeMatrix: {
      const auto column = components_.find(i[2]);
      columns_[i[1]] = std::clamp(i[3], 1U, kMostComponents);
      components_[i[1]] = (column == components_.end() ? 1 : column->second) * columns_[i[1]];
      break;
    }
    case Op::OpTypePointer:
      if (i[2] == static_cast<Word>(spv::StorageClass::Function) ||
          i[2] == static_cast<Word>(spv::StorageClass::Private)) {
        register_types_.insert(i[1]);
      }
      break;
    case Op::OpConstant:
    case Op::OpConstantNull:
      constants_.insert(i[2]);
      break;
    case Op::OpVariable:
    case Op::OpFunctionParameter:
      if (register_types_.contains(i[1])) {
        registers_.insert(i[2]);
      }
      break;
    case Op::OpAccessChain:
    case Op::OpInBoundsAccessChain:
    case Op::OpCopyObject: {
      constexpr std::size_t kFirstIndex = 3;  // of the operands
      const auto indices = i.operands().subspan(std::min(i.operands().size(), kFirstIndex));
      if (registers_.contains(i[3]) &&
          std::all_of(indices.begin(), indices.end(), [this](Word index) { return constants_.contains(index); })) {
        registers_.insert(i[2]);
      }
      break;
    }
    default:
      break;
  }
}

std::uint32_t Classifier::issue_slots(const Instruction& i) const {
  if (!issues(of(i))) {
    return 0;
  }
  if (const std::size_t operand = reduced_operand(i, glsl_); operand != 0) {
    return components_of(i[operand]);
  }
  const auto components = by_component(i) ? components_.find(i.result_type()) : components_.end();
  if (components == components_.end()) {
    return 1;
  }
  if (i.is(Op::OpMatrixTimesMatrix)) {
    const auto type = types_.find(i[3]);
    const auto columns = type == types_.end() ? columns_.end() : columns_.find(type->second);
    return components->second * (columns == columns_.end() ? 1 : columns->second);
  }
  return components->second;
}

std::uint32_t Classifier::components_of(Id value) const {
  const auto type = types_.find(value);
  return type == types_.end() ? 1 : components_.at(type->second);
}

bool Classifier::is_register(const Instruction& access) const {
  return registers_.contains(access.is(Op::OpLoad) ? access[3] : access[1]);
}

InstructionClass Classifier::of(const Instruction& i) const {
  if (i.is(Op::OpExtInst)) {
    return nonsemantic_.contains(i[3]) ? Class::None : i[3] == glsl_ ? class_of_function(i[4]) : Class::Other;
  }
  if ((i.is(Op::OpLoad) || i.is(Op::OpStore)) && is_register(i)) {
    return Class::Move;
  }
  return class_of_opcode(i.op());
}

}  // namespace rayreplay::spirv
