#include "capture/instrument/passes/buffer_layout.hpp"

#include <algorithm>
#include <tuple>

namespace rayreplay::instrument {

using spv::Decoration;
using spv::Op;
using spv::StorageClass;

namespace {

constexpr std::size_t kMostSteps = 4096;
constexpr std::size_t kMostIndices = 4096;
constexpr std::uint32_t kMostTypes = 4096;  ///< that make up a value, nested and repeated ones too
constexpr const char* kChosen = "their pointers are arguments of functions, chosen by control flow, or untyped";
constexpr const char* kNoLayout = "their types do not state a layout";
constexpr const char* kNoSize = "their types have no known size";
constexpr const char* kRows = "they take columns of row-major matrices";

bool is_chain(const Instruction& i) {
  return i.is(Op::OpAccessChain) || i.is(Op::OpInBoundsAccessChain);
}

}  // namespace

BufferLayout::BufferLayout(const Rewriter& rewriter) : rewriter_(rewriter) {
  for (const Instruction& i : rewriter.module.annotations) {
    if (i.is(Op::OpDecorate)) {
      switch (static_cast<Decoration>(i[2])) {
        case Decoration::ArrayStride:
          array_stride_[i[1]] = i[3];
          break;
        case Decoration::DescriptorSet:
          bindings_[i[1]].first = i[3];
          break;
        case Decoration::Binding:
          bindings_[i[1]].second = i[3];
          break;
        case Decoration::BufferBlock:
          old_storage_.insert(i[1]);
          break;
        default:
          break;
      }
    } else if (i.is(Op::OpMemberDecorate)) {
      Member& of = members_[{i[1], i[2]}];
      switch (static_cast<Decoration>(i[3])) {
        case Decoration::Offset:
          of.offset = i[4];
          break;
        case Decoration::MatrixStride:
          of.matrix.stride = i[4];
          break;
        case Decoration::RowMajor:
          of.matrix.row_major = true;
          break;
        default:
          break;
      }
    }
  }
}

Id BufferLayout::pointee(Id pointer) const {
  const Instruction* type = rewriter_.global(rewriter_.analysis.type_of(pointer));
  return type != nullptr && type->is(Op::OpTypePointer) ? (*type)[3] : 0;
}

const BufferLayout::Member* BufferLayout::member(Id type, std::uint32_t index) const {
  const auto found = members_.find({type, index});
  return found == members_.end() || !found->second.offset ? nullptr : &found->second;
}

bool BufferLayout::is_array(Id type) const {
  const Instruction* of = rewriter_.global(type);
  return of != nullptr && (of->is(Op::OpTypeArray) || of->is(Op::OpTypeRuntimeArray));
}

std::optional<AccessSpace> BufferLayout::space_of(Id pointer) const {
  const Instruction* type = rewriter_.global(rewriter_.analysis.type_of(pointer));
  constexpr Word kOpTypeUntypedPointer = 4417;
  if (type == nullptr || (!type->is(Op::OpTypePointer) && type->op() != kOpTypeUntypedPointer)) {
    return std::nullopt;
  }
  switch (static_cast<StorageClass>((*type)[2])) {
    case StorageClass::StorageBuffer:
    case StorageClass::Uniform:
      return AccessSpace::Descriptor;
    case StorageClass::PhysicalStorageBuffer:
      return AccessSpace::Device;
    case StorageClass::ShaderRecordBufferKHR:
      return AccessSpace::ShaderRecord;
    default:
      return std::nullopt;
  }
}

std::string BufferLayout::add(Id index, std::uint32_t bytes, BufferPlace& place) const {
  const Instruction* type = rewriter_.global(rewriter_.analysis.type_of(index));
  if (const Instruction* known = rewriter_.global(index);
      known != nullptr && known->is(Op::OpConstant) && type != nullptr && type->is(Op::OpTypeInt)) {
    const bool is_signed = (*type)[3] != 0;
    const std::uint64_t high = known->size() > 4 ? (*known)[4] : is_signed && (*known)[3] >> 31U != 0 ? ~Word{0} : 0;
    place.constant += (high << 32U | (*known)[3]) * bytes;
    return {};
  }
  if (type == nullptr || !type->is(Op::OpTypeInt) || ((*type)[2] != 32 && (*type)[2] != 64)) {
    return "they have indices of 8 or 16 bits";
  }
  place.terms.emplace_back(index, bytes);
  return {};
}

std::string BufferLayout::step(Part& part, Id index, BufferPlace& place) const {
  const Instruction* found = rewriter_.global(part.type);
  if (found == nullptr) {
    return kNoLayout;
  }
  const Instruction& type = *found;
  switch (static_cast<Op>(type.op())) {
    case Op::OpTypeStruct: {
      const Instruction* number = rewriter_.global(index);
      if (number == nullptr || !number->is(Op::OpConstant) || std::size_t{(*number)[3]} + 2 >= type.size()) {
        return kNoLayout;
      }
      const Member* of = member(part.type, (*number)[3]);
      if (of == nullptr) {
        return kNoLayout;
      }
      place.constant += *of->offset;
      part = {type[2 + (*number)[3]], of->matrix};
      return {};
    }
    case Op::OpTypeArray:
    case Op::OpTypeRuntimeArray: {
      const auto stride = array_stride_.find(part.type);
      if (stride == array_stride_.end()) {
        return kNoLayout;
      }
      part.type = type[2];
      return add(index, stride->second, place);
    }
    case Op::OpTypeMatrix: {
      const Instruction* column = rewriter_.global(type[2]);
      const std::uint32_t component = column == nullptr ? 0 : bytes_of((*column)[2], {});
      if (component == 0 || part.matrix.stride == 0) {
        return kNoLayout;
      }
      const bool rows = part.matrix.row_major;
      const std::uint32_t stride = part.matrix.stride;
      part = {type[2], {}, rows ? stride : 0};
      return add(index, rows ? component : stride, place);
    }
    case Op::OpTypeVector: {
      const std::uint32_t component = bytes_of(type[2], {});
      const std::uint32_t stride = part.component_stride != 0 ? part.component_stride : component;
      part = {type[2], {}};
      return component == 0 ? std::string(kNoLayout) : add(index, stride, place);
    }
    default:
      return kNoLayout;
  }
}

std::string BufferLayout::bind(Id variable, std::vector<Id>& indices, BufferPlace& place) const {
  if (place.space != AccessSpace::Descriptor) {
    return {};
  }
  const auto binding = binding_of(variable);
  if (!binding) {
    return "their buffer has no binding";
  }
  std::tie(place.set, place.binding) = *binding;
  if (is_array(pointee(variable))) {
    const Instruction* element = indices.empty() ? nullptr : rewriter_.global(indices.front());
    if (element == nullptr || !element->is(Op::OpConstant)) {
      return "they index an array of descriptors by a value that is not constant";
    }
    place.element = (*element)[3];
    indices.erase(indices.begin());
  }
  return {};
}

Id BufferLayout::root_of(const PointerDefinitions& definitions, Id pointer, std::vector<Id>& indices) {
  const Instruction* i = definitions.find(pointer);
  for (std::size_t steps = 0; i != nullptr && steps < kMostSteps && indices.size() < kMostIndices;
       ++steps, i = definitions.find(pointer)) {
    if (is_chain(*i) && i->size() > 3) {
      indices.insert(indices.begin(), i->operands().begin() + 3, i->operands().end());
    } else if (!i->is(Op::OpCopyObject)) {
      break;
    }
    pointer = (*i)[3];
  }
  return pointer;
}

std::optional<std::pair<std::uint32_t, std::uint32_t>> BufferLayout::binding_of(Id variable) const {
  const auto found = bindings_.find(variable);
  return found == bindings_.end() ? std::nullopt : std::optional(found->second);
}

bool BufferLayout::is_uniform(const PointerDefinitions& definitions, Id pointer) const {
  const Instruction* type = rewriter_.global(rewriter_.analysis.type_of(pointer));
  if (type == nullptr || (*type)[2] != static_cast<Word>(StorageClass::Uniform)) {
    return false;
  }
  std::vector<Id> unused;
  const Id variable = root_of(definitions, pointer, unused);
  const Instruction* root = rewriter_.global(variable);
  if (root == nullptr || !root->is(Op::OpVariable)) {
    return old_storage_.empty();
  }
  const Id block = pointee(variable);
  return !old_storage_.contains(is_array(block) ? (*rewriter_.global(block))[2] : block);
}

std::optional<BufferPlace> BufferLayout::place_of(const PointerDefinitions& definitions, Id pointer,
                                                  std::string& why) const {
  BufferPlace place;
  place.space = space_of(pointer).value_or(AccessSpace::Descriptor);
  std::vector<Id> indices;
  const Id at = root_of(definitions, pointer, indices);
  const Instruction* variable = rewriter_.global(at);
  if (place.space != AccessSpace::Device && (variable == nullptr || !variable->is(Op::OpVariable))) {
    why = kChosen;
    return std::nullopt;
  }
  place.root = at;
  Part part{pointee(at), {}};
  const bool array = place.space == AccessSpace::Descriptor && is_array(part.type);
  if (why = bind(at, indices, place); !why.empty()) {
    return std::nullopt;
  }
  if (array) {
    part.type = (*rewriter_.global(part.type))[2];
  }
  for (const Id index : indices) {
    if (why = step(part, index, place); !why.empty()) {
      return std::nullopt;
    }
  }
  if (part.component_stride != 0) {
    why = kRows;
    return std::nullopt;
  }
  place.bytes = bytes_of(part.type, part.matrix);
  if (place.bytes == 0) {
    why = kNoSize;
    return std::nullopt;
  }
  return place;
}

std::optional<std::uint32_t> BufferLayout::bytes_at(const PointerDefinitions& definitions, Id pointer, Id type,
                                                    std::string& why) const {
  Part part{type, {}};
  // For matrices: their member states how they lie.
  std::vector<Id> indices;
  Part walked{pointee(root_of(definitions, pointer, indices)), {}};
  BufferPlace unused;
  const auto steps = [&](Id index) { return step(walked, index, unused).empty(); };
  if (walked.type != 0 && std::all_of(indices.begin(), indices.end(), steps) && walked.type == type) {
    part = walked;
  }
  if (part.component_stride != 0) {
    why = kRows;
    return std::nullopt;
  }
  const std::uint32_t bytes = bytes_of(part.type, part.matrix);
  if (bytes == 0) {
    why = kNoSize;
    return std::nullopt;
  }
  return bytes;
}

std::uint32_t BufferLayout::bytes_of(Id type, const Matrix& matrix) const {
  std::uint32_t left = kMostTypes;
  return measure(type, matrix, left);
}

std::uint32_t BufferLayout::measure(Id type, const Matrix& matrix, std::uint32_t& left) const {
  const Instruction* found = rewriter_.global(type);
  if (found == nullptr || left == 0) {
    return 0;
  }
  --left;
  const Instruction& of = *found;
  switch (static_cast<Op>(of.op())) {
    case Op::OpTypeInt:
    case Op::OpTypeFloat:
      return of[2] / 8;
    case Op::OpTypePointer:
      return of[2] == static_cast<Word>(StorageClass::PhysicalStorageBuffer) ? 8 : 0;
    case Op::OpTypeVector:
      return of[3] * measure(of[2], {}, left);
    case Op::OpTypeMatrix: {
      const Instruction* column = rewriter_.global(of[2]);
      const std::uint32_t component = column == nullptr ? 0 : measure((*column)[2], {}, left);
      if (component == 0 || matrix.stride == 0) {
        return 0;
      }
      const std::uint32_t major = matrix.row_major ? (*column)[3] : of[3];
      const std::uint32_t minor = matrix.row_major ? of[3] : (*column)[3];
      return (major - 1) * matrix.stride + minor * component;
    }
    case Op::OpTypeArray: {
      const auto stride = array_stride_.find(type);
      const Instruction* length = rewriter_.global(of[3]);
      const std::uint32_t element = measure(of[2], matrix, left);
      if (stride == array_stride_.end() || length == nullptr || !length->is(Op::OpConstant) || (*length)[3] == 0 ||
          element == 0) {
        return 0;
      }
      return ((*length)[3] - 1) * stride->second + element;
    }
    case Op::OpTypeStruct: {
      std::uint32_t end = 0;
      for (std::uint32_t m = 0; m + 2 < of.size(); ++m) {
        const Member* member = this->member(type, m);
        const std::uint32_t bytes = member == nullptr ? 0 : measure(of[m + 2], member->matrix, left);
        if (bytes == 0) {
          return 0;
        }
        end = std::max(end, *member->offset + bytes);
      }
      return end;
    }
    default:
      return 0;
  }
}

}  // namespace rayreplay::instrument
