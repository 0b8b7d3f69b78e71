#include "capture/spirv/operands.hpp"

#include <algorithm>

namespace rayreplay::spirv {

using spv::Op;

namespace {

constexpr std::size_t kNone = 0;
constexpr std::size_t kNoEnd = kMaxInstructionWords + 1;

/// A literal among ids; from `end` on there are literals only.
struct Literals {
  std::size_t one = kNone;
  std::size_t end = kNoEnd;
};

Literals literals_of(const Instruction& i) {
  switch (static_cast<Op>(i.op())) {
    case Op::OpCompositeExtract:
      return {kNone, 4};
    case Op::OpCompositeInsert:
    case Op::OpVectorShuffle:
    case Op::OpArrayLength:
      return {kNone, i.is(Op::OpArrayLength) ? std::size_t{4} : 5};
    case Op::OpLoad:
      return {kNone, 4};
    case Op::OpStore:
    case Op::OpCopyMemory:
      return {kNone, 3};
    case Op::OpCopyMemorySized:
      return {kNone, 4};
    case Op::OpVariable:
      return {3, kNoEnd};
    case Op::OpExtInst:
      return {4, kNoEnd};
    case Op::OpSwitch:
    case Op::OpSelectionMerge:
      return {kNone, 2};
    case Op::OpLoopMerge:
      return {kNone, 3};
    case Op::OpBranchConditional:
      return {kNone, 4};
    case Op::OpImageSampleImplicitLod:
    case Op::OpImageSampleExplicitLod:
    case Op::OpImageSampleProjImplicitLod:
    case Op::OpImageSampleProjExplicitLod:
    case Op::OpImageFetch:
    case Op::OpImageRead:
    case Op::OpImageSparseSampleImplicitLod:
    case Op::OpImageSparseSampleExplicitLod:
    case Op::OpImageSparseFetch:
    case Op::OpImageSparseRead:
      return {5, kNoEnd};
    case Op::OpImageSampleDrefImplicitLod:
    case Op::OpImageSampleDrefExplicitLod:
    case Op::OpImageSampleProjDrefImplicitLod:
    case Op::OpImageSampleProjDrefExplicitLod:
    case Op::OpImageGather:
    case Op::OpImageDrefGather:
    case Op::OpImageSparseSampleDrefImplicitLod:
    case Op::OpImageSparseSampleDrefExplicitLod:
    case Op::OpImageSparseGather:
    case Op::OpImageSparseDrefGather:
      return {6, kNoEnd};
    case Op::OpImageWrite:
      return {4, kNoEnd};
    case Op::OpSDot:
    case Op::OpUDot:
    case Op::OpSUDot:
      return {kNone, 5};
    case Op::OpSDotAccSat:
    case Op::OpUDotAccSat:
    case Op::OpSUDotAccSat:
      return {kNone, 6};
    default:
      // The operation of a group: reduce, scan, …
      return i.op() >= number(Op::OpGroupNonUniformBallotBitCount) &&
                     i.op() <= number(Op::OpGroupNonUniformLogicalXor) &&
                     !(i.op() >= number(Op::OpGroupNonUniformBallotFindLSB) &&
                       i.op() <= number(Op::OpGroupNonUniformShuffleDown))
                 ? Literals{4, kNoEnd}
                 : Literals{};
  }
}

}  // namespace

std::vector<std::size_t> id_words(const Instruction& i) {
  bool result = false;
  bool type = false;
  spv::HasResultAndType(static_cast<Op>(i.op()), &result, &type);
  const Literals literals = literals_of(i);
  std::vector<std::size_t> words;
  const std::size_t end = std::min(i.size(), literals.end);
  for (std::size_t w = 1 + (result ? 1U : 0U) + (type ? 1U : 0U); w < end; ++w) {
    if (w != literals.one) {
      words.push_back(w);
    }
  }
  return words;
}

std::vector<Id> used_ids(const Instruction& i) {
  std::vector<Id> ids;
  for (const std::size_t w : id_words(i)) {
    ids.push_back(i[w]);
  }
  return ids;
}

}  // namespace rayreplay::spirv
