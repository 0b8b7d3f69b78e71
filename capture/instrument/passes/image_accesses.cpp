#include "capture/instrument/passes/image_accesses.hpp"

#include <bit>

#include "capture/instrument/probe_libraries.hpp"
#include "capture/instrument/probes/texels.h"

namespace rayreplay::instrument {

using spv::Decoration;
using spv::Op;
using spv::StorageClass;

namespace {

constexpr std::size_t kMostImageSteps = 4096;
constexpr Word kHalfBits = 16, kWordBits = 32;
constexpr const char* kUnknownImage = "their images are arguments of functions, chosen by control flow, or untyped";

}  // namespace

ImageAccesses::ImageAccesses(Rewriter& rewriter, const BufferLayout& layout) : rewriter_(rewriter), layout_(layout) {
  for (const Instruction& i : rewriter.module.annotations) {
    if (i.is(Op::OpDecorate) && i[2] == static_cast<Word>(Decoration::NonUniform)) {
      not_uniform_.insert(i[1]);
    }
  }
}

std::optional<ImageInstruction> ImageAccesses::atomic(const PointerDefinitions& definitions, Id pointer) const {
  const Instruction* type = rewriter_.global(rewriter_.analysis.type_of(pointer));
  if (type == nullptr || !type->is(Op::OpTypePointer) || (*type)[2] != static_cast<Word>(StorageClass::Image)) {
    return std::nullopt;
  }
  ImageInstruction access;
  access.kind = AccessKind::Atomic;
  const Instruction* i = definitions.find(pointer);
  for (std::size_t step = 0; i != nullptr && i->is(Op::OpCopyObject) && step < kMostImageSteps; ++step) {
    i = definitions.find((*i)[3]);
  }
  if (i != nullptr && i->is(Op::OpImageTexelPointer)) {
    access.image = (*i)[3];
    access.coordinate = (*i)[4];
  }
  return access;  // without an image: record() says why
}

std::optional<ImageAccesses::Shape> ImageAccesses::shape_of(const ImageInstruction& access, std::string& why) const {
  const Rewriter& r = rewriter_;
  Shape shape;
  shape.type = r.analysis.type_of(access.image);
  const Instruction* type = r.global(shape.type);
  if (type != nullptr && access.kind == AccessKind::Atomic && type->is(Op::OpTypePointer)) {
    shape.type = (*type)[3];
  } else if (type != nullptr && type->is(Op::OpTypeSampledImage)) {
    shape.type = (*type)[2];
  }
  type = r.global(shape.type);
  if (type == nullptr || !type->is(Op::OpTypeImage)) {
    why = kUnknownImage;
    return std::nullopt;
  }
  shape.in_array = (*type)[5] != 0;
  switch (static_cast<spv::Dim>((*type)[3])) {
    case spv::Dim::Dim1D:
      shape.form = RR_IMAGE_1D;
      shape.dimensions = 1;
      break;
    case spv::Dim::Dim2D:
      shape.form = RR_IMAGE_2D;
      shape.dimensions = 2;
      break;
    case spv::Dim::Dim3D:
      shape.form = RR_IMAGE_3D;
      shape.dimensions = 3;
      break;
    case spv::Dim::Cube:
      shape.form = RR_IMAGE_CUBE;
      shape.dimensions = 3;
      break;
    case spv::Dim::Buffer:
      why = "they are of texel buffers";
      return std::nullopt;
    default:
      why = "their images are of another shape than 1D, 2D, 3D and cube";
      return std::nullopt;
  }
  if ((*type)[6] != 0) {
    why = "their images are multisampled";
    return std::nullopt;
  }
  if (shape.in_array) {
    shape.form |= RR_IMAGE_ARRAY;
  }
  return shape;
}

std::optional<ImageAccesses::Descriptor> ImageAccesses::descriptor_of(const PointerDefinitions& definitions,
                                                                      const ImageInstruction& access,
                                                                      std::string& why) const {
  Id pointer = access.kind == AccessKind::Atomic ? access.image : 0;
  Id image = access.image;
  for (std::size_t step = 0; pointer == 0 && step < kMostImageSteps; ++step) {
    const Instruction* i = definitions.find(image);
    if (i == nullptr) {
      break;
    }
    if (i->is(Op::OpLoad)) {
      pointer = (*i)[3];
    } else if (i->is(Op::OpSampledImage) || i->is(Op::OpImage) || i->is(Op::OpCopyObject)) {
      image = (*i)[3];
    } else {
      break;
    }
  }
  std::vector<Id> indices;
  const Id root = BufferLayout::root_of(definitions, pointer, indices);
  const Instruction* variable = rewriter_.global(root);
  if (variable == nullptr || !variable->is(Op::OpVariable)) {
    why = kUnknownImage;
    return std::nullopt;
  }
  const auto binding = layout_.binding_of(root);
  if (!binding || indices.size() > 1) {
    why = binding ? "they are in arrays of arrays of descriptors" : "their image has no binding";
    return std::nullopt;
  }
  Descriptor descriptor{binding->first, binding->second};
  if (!indices.empty()) {
    descriptor.element = indices.front();
    why = fault_of(descriptor.element, false, 1);
  }
  return why.empty() ? std::optional(descriptor) : std::nullopt;
}

ImageAccesses::Numbers ImageAccesses::numbers_of(Id id) const {
  Numbers numbers{id, rewriter_.analysis.type_of(id)};
  const Instruction* type = rewriter_.global(numbers.type);
  numbers.count = 1;
  if (type != nullptr && type->is(Op::OpTypeVector)) {
    numbers.vector = true;
    numbers.count = (*type)[3];
    numbers.type = (*type)[2];
    type = rewriter_.global(numbers.type);
  }
  if (type == nullptr || (!type->is(Op::OpTypeInt) && !type->is(Op::OpTypeFloat))) {
    numbers.count = 0;
    return numbers;
  }
  numbers.real = type->is(Op::OpTypeFloat);
  numbers.bits = (*type)[2];
  if (numbers.real && type->size() > 3) {
    numbers.bits = 0;  // another encoding
  }
  return numbers;
}

std::string ImageAccesses::fault_of(Id operand, bool real, std::uint32_t count) const {
  const Numbers numbers = numbers_of(operand);
  // Halves can be converted by any module that has them; integers of 8 or 16 bits not by all that do.
  const bool fits = numbers.real == real && numbers.count >= count &&
                    (numbers.bits == kWordBits || (real && numbers.bits == kHalfBits));
  return fits ? "" : "their operands are not of 32 bits";
}

std::string ImageAccesses::fault_of(const ImageInstruction& access, const Shape& shape) const {
  if (access.four_offsets) {
    return "they gather at four offsets";
  }
  const bool sample = access.kind == AccessKind::Sample;
  const bool cube = (shape.form & 3U) == RR_IMAGE_CUBE;
  const std::uint32_t in_layer = cube && !sample ? 2 : shape.dimensions;
  const bool layer = shape.in_array || (cube && !sample);
  std::string why = fault_of(access.coordinate, sample, in_layer + (layer || access.projective ? 1 : 0));
  const auto check = [&](Id operand, bool real, std::uint32_t count) {
    if (operand != 0 && why.empty()) {
      why = fault_of(operand, real, count);
    }
  };
  check(access.lod, sample, 1);
  check(access.least_lod, true, 1);
  check(access.offset, false, cube ? 2 : shape.dimensions);
  check(access.gradient_x, true, shape.dimensions);
  check(access.gradient_y, true, shape.dimensions);
  return why;
}

Id ImageAccesses::make(std::vector<Instruction>& out, Op op, Id type, std::initializer_list<Word> operands) {
  const Id id = rewriter_.linker.fresh();
  Instruction instruction(op, {type, id});
  for (const Word operand : operands) {
    instruction.add(operand);
  }
  out.push_back(std::move(instruction));
  return id;
}

std::vector<Id> ImageAccesses::components(std::vector<Instruction>& out, Id operand, std::uint32_t count) {
  Linker& linker = rewriter_.linker;
  const Numbers numbers = numbers_of(operand);
  std::vector<Id> result;
  for (std::uint32_t c = 0; c < count; ++c) {
    Id part = numbers.vector ? make(out, Op::OpCompositeExtract, numbers.type, {operand, c}) : operand;
    const Id wanted = numbers.real ? linker.type_float() : linker.type_uint();
    if (numbers.real && numbers.bits == kHalfBits) {
      part = make(out, Op::OpFConvert, wanted, {part});
    } else if (numbers.type != wanted) {
      part = rewriter_.bitcast(out, wanted, part);
    }
    result.push_back(part);
  }
  return result;
}

Id ImageAccesses::vector(std::vector<Instruction>& out, Id type, std::vector<Id> parts, std::size_t count, Id rest) {
  parts.resize(count, rest);
  const Id id = rewriter_.linker.fresh();
  Instruction composite(Op::OpCompositeConstruct, {type, id});
  for (const Id part : parts) {
    composite.add(part);
  }
  out.push_back(std::move(composite));
  return id;
}

Id ImageAccesses::real(std::vector<Instruction>& out, Id operand) {
  return operand == 0 ? zero(out) : components(out, operand, 1).front();
}

Id ImageAccesses::zero(std::vector<Instruction>& out) {
  return rewriter_.bitcast(out, rewriter_.linker.type_float(), rewriter_.linker.constant(0));
}

Id ImageAccesses::element(std::vector<Instruction>& out, const Descriptor& descriptor) {
  return descriptor.element == 0 ? rewriter_.linker.constant(0) : components(out, descriptor.element, 1).front();
}

Id ImageAccesses::texel(std::vector<Instruction>& out, const ImageInstruction& access, const Shape& shape) {
  Linker& linker = rewriter_.linker;
  const bool cube = (shape.form & 3U) == RR_IMAGE_CUBE;
  const std::uint32_t in_layer = cube ? 2 : shape.dimensions;
  std::vector<Id> parts = components(out, access.coordinate, in_layer + (shape.in_array || cube ? 1 : 0));
  if (access.offset != 0) {
    const std::vector<Id> offset = components(out, access.offset, in_layer);
    for (std::uint32_t c = 0; c < in_layer; ++c) {
      parts[c] = make(out, Op::OpIAdd, linker.type_uint(), {parts[c], offset[c]});
    }
  }
  const Id none = linker.constant(0);
  if (in_layer == 1) {
    parts.insert(parts.begin() + 1, none);  // an array's layer is the third
  }
  parts.resize(3, none);
  parts.push_back(access.lod != 0 ? components(out, access.lod, 1).front() : none);
  return vector(out, linker.type_uvec(4), std::move(parts), 4, none);
}

Id ImageAccesses::place(std::vector<Instruction>& out, const ImageInstruction& access, const Shape& shape) {
  Linker& linker = rewriter_.linker;
  const bool more = shape.in_array || access.projective;
  std::vector<Id> parts = components(out, access.coordinate, shape.dimensions + (more ? 1 : 0));
  if (access.projective) {
    const Id by = parts.back();
    parts.pop_back();
    for (Id& part : parts) {
      part = make(out, Op::OpFDiv, linker.type_float(), {part, by});
    }
  }
  const Id none = zero(out);
  if (shape.dimensions == 1) {
    parts.insert(parts.begin() + 1, none);
  }
  return vector(out, linker.type_vec(4), std::move(parts), 4, none);
}

Id ImageAccesses::extent(std::vector<Instruction>& out, const ImageInstruction& access, const Shape& shape,
                         bool levels) {
  Linker& linker = rewriter_.linker;
  linker.capability(spv::Capability::ImageQuery);
  const Id image = make(out, Op::OpImage, shape.type, {access.image});
  if (not_uniform_.contains(access.image)) {
    linker.decorate(image, {static_cast<Word>(Decoration::NonUniform)});
  }
  const Id one = linker.constant(1);
  const Id first_level = linker.constant(0);
  const bool cube = (shape.form & 3U) == RR_IMAGE_CUBE;
  const std::uint32_t in_layer = cube ? 2 : shape.dimensions;
  const std::uint32_t count = in_layer + (shape.in_array ? 1 : 0);
  const Id type = count == 1 ? linker.type_uint() : linker.type_uvec(count);
  const Id size = make(out, Op::OpImageQuerySizeLod, type, {image, first_level});
  std::vector<Id> parts;
  for (std::uint32_t c = 0; c < count; ++c) {
    parts.push_back(count == 1 ? size : make(out, Op::OpCompositeExtract, linker.type_uint(), {size, c}));
  }
  if (in_layer == 1) {
    parts.insert(parts.begin() + 1, one);
  }
  parts.resize(3, one);
  parts.push_back(levels ? make(out, Op::OpImageQueryLevels, linker.type_uint(), {image}) : one);
  return vector(out, linker.type_uvec(4), std::move(parts), 4, one);
}

bool ImageAccesses::is_level_0(const ImageInstruction& access) const {
  if (access.gradient_x != 0 || access.least_lod != 0) {
    return false;
  }
  const Instruction* lod = rewriter_.global(access.lod);
  constexpr float kRoundedDown = 0.5F;
  return access.lod == 0 || (lod != nullptr && lod->is(Op::OpConstant) && numbers_of(access.lod).bits == kWordBits &&
                             std::bit_cast<float>((*lod)[3]) <= kRoundedDown);
}

std::string ImageAccesses::record(const Place& at, const PointerDefinitions& definitions,
                                  const ImageInstruction& access, std::uint32_t number, AccessSite& site) {
  std::string why;
  const std::optional<Shape> shape = shape_of(access, why);
  const std::optional<Descriptor> descriptor =
      shape ? descriptor_of(definitions, access, why) : std::optional<Descriptor>();
  if (descriptor) {
    why = fault_of(access, *shape);
  }
  if (!why.empty()) {
    return why;
  }
  site.kind = access.kind;
  site.space = AccessSpace::Image;
  site.set = descriptor->set;
  site.binding = descriptor->binding;
  Linker& linker = rewriter_.linker;
  std::vector<Id> arguments = {linker.constant(number)};
  const char* probe = "rr_access_texel";
  if (access.kind != AccessKind::Sample) {
    arguments.push_back(texel(at.out, access, *shape));
    arguments.push_back(element(at.out, *descriptor));
  } else {
    const Id none = linker.constant(0);
    const std::uint32_t moved = (shape->form & 3U) == RR_IMAGE_CUBE ? 2 : shape->dimensions;
    const std::vector<Id> offset = access.offset == 0 ? std::vector<Id>{} : components(at.out, access.offset, moved);
    arguments.push_back(place(at.out, access, *shape));
    arguments.push_back(vector(at.out, linker.type_uvec(3), offset, 3, none));
    arguments.push_back(extent(at.out, access, *shape, !is_level_0(access)));
    arguments.push_back(linker.constant(shape->form));
    arguments.push_back(element(at.out, *descriptor));
    probe = "rr_access_sample";
    if (access.gradient_x != 0) {
      probe = "rr_access_sample_gradients";
      const Id rest = zero(at.out);
      for (const Id gradient : {access.gradient_x, access.gradient_y}) {
        const std::vector<Id> parts = components(at.out, gradient, shape->dimensions);
        arguments.push_back(vector(at.out, linker.type_vec(3), parts, 3, rest));
      }
    } else {
      arguments.push_back(real(at.out, access.lod));
    }
    arguments.push_back(real(at.out, access.least_lod));
  }
  (void)rewriter_.call_probe(at.out, linker.type_void(),
                             linker.function(accesses_library(rewriter_.options.ballot_extension), probe), at.shaders,
                             arguments);
  return {};
}

}  // namespace rayreplay::instrument
