#include "capture/instrument/passes/image_instructions.hpp"

#include <algorithm>
#include <array>

namespace rayreplay::instrument {

using spv::Op;

namespace {

/// The instruction without its sparseness: their operands are the same.
Op dense(Op op) {
  struct Pair {
    Op sparse, dense;
  };
  constexpr std::array kPairs = {
      Pair{Op::OpImageSparseSampleImplicitLod, Op::OpImageSampleImplicitLod},
      Pair{Op::OpImageSparseSampleExplicitLod, Op::OpImageSampleExplicitLod},
      Pair{Op::OpImageSparseSampleDrefImplicitLod, Op::OpImageSampleDrefImplicitLod},
      Pair{Op::OpImageSparseSampleDrefExplicitLod, Op::OpImageSampleDrefExplicitLod},
      Pair{Op::OpImageSparseSampleProjImplicitLod, Op::OpImageSampleProjImplicitLod},
      Pair{Op::OpImageSparseSampleProjExplicitLod, Op::OpImageSampleProjExplicitLod},
      Pair{Op::OpImageSparseSampleProjDrefImplicitLod, Op::OpImageSampleProjDrefImplicitLod},
      Pair{Op::OpImageSparseSampleProjDrefExplicitLod, Op::OpImageSampleProjDrefExplicitLod},
      Pair{Op::OpImageSparseFetch, Op::OpImageFetch},
      Pair{Op::OpImageSparseGather, Op::OpImageGather},
      Pair{Op::OpImageSparseDrefGather, Op::OpImageDrefGather},
      Pair{Op::OpImageSparseRead, Op::OpImageRead},
  };
  const auto* const found =
      std::find_if(kPairs.begin(), kPairs.end(), [&](const Pair& pair) { return pair.sparse == op; });
  return found == kPairs.end() ? op : found->dense;
}

/// Image operands from the word with their mask on.
void add_operands(const Instruction& i, std::size_t mask_word, ImageInstruction& to) {
  using Mask = spv::ImageOperandsMask;
  constexpr std::uint32_t kBits = 32;
  const Word mask = i[mask_word];
  std::size_t at = mask_word + 1;
  for (std::uint32_t bit = 0; bit < kBits; ++bit) {
    const auto which = static_cast<Mask>(mask & 1U << bit);
    switch (which) {
      case Mask::Lod:
        to.lod = i[at++];
        break;
      case Mask::Grad:
        to.gradient_x = i[at++];
        to.gradient_y = i[at++];
        break;
      case Mask::ConstOffset:
      case Mask::Offset:
        to.offset = i[at++];
        break;
      case Mask::ConstOffsets:
      case Mask::Offsets:
        to.four_offsets = true;
        ++at;
        break;
      case Mask::MinLod:
        to.least_lod = i[at++];
        break;
      case Mask::Bias:
      case Mask::Sample:
      case Mask::MakeTexelAvailable:
      case Mask::MakeTexelVisible:
        ++at;
        break;
      default:  // bits without an operand
        break;
    }
  }
}

}  // namespace

std::optional<ImageInstruction> image_instruction(const Instruction& i) {
  ImageInstruction result;
  std::size_t mask_word = 5;
  switch (dense(static_cast<Op>(i.op()))) {
    case Op::OpImageRead:
    case Op::OpImageFetch:
      break;
    case Op::OpImageWrite:
      result.kind = AccessKind::Store;
      result.image = i[1];
      result.coordinate = i[2];
      add_operands(i, 4, result);
      return result;
    case Op::OpImageSampleProjImplicitLod:
    case Op::OpImageSampleProjExplicitLod:
      result.projective = true;
      [[fallthrough]];
    case Op::OpImageSampleImplicitLod:
    case Op::OpImageSampleExplicitLod:
      result.kind = AccessKind::Sample;
      break;
    case Op::OpImageSampleProjDrefImplicitLod:
    case Op::OpImageSampleProjDrefExplicitLod:
      result.projective = true;
      [[fallthrough]];
    case Op::OpImageSampleDrefImplicitLod:
    case Op::OpImageSampleDrefExplicitLod:
    case Op::OpImageGather:
    case Op::OpImageDrefGather:
      result.kind = AccessKind::Sample;
      mask_word = 6;  // behind the reference or the component
      break;
    default:
      return std::nullopt;
  }
  result.image = i[3];
  result.coordinate = i[4];
  add_operands(i, mask_word, result);
  return result;
}

std::string other_image_access(const Instruction& i) {
  constexpr Word kFirstQcom = 4480, kLastQcom = 4483, kFirstWindowQcom = 4500, kLastGatherQcom = 4503;
  constexpr Word kFragmentMaskFetchAmd = 5011, kFragmentFetchAmd = 5012, kSampleFootprintNv = 5283;
  const Word op = i.op();
  const bool vendor = (op >= kFirstQcom && op <= kLastQcom) || (op >= kFirstWindowQcom && op <= kLastGatherQcom) ||
                      op == kFragmentMaskFetchAmd || op == kFragmentFetchAmd || op == kSampleFootprintNv;
  return vendor ? "they are of a vendor's extension" : "";
}

}  // namespace rayreplay::instrument
