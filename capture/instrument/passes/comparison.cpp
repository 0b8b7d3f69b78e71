#include "capture/instrument/passes/comparison.hpp"

#include <algorithm>
#include <array>

#include "capture/instrument/probe_libraries.hpp"

namespace rayreplay::instrument {

using spv::Op;
using spv::StorageClass;

namespace {

constexpr std::uint32_t kChunk = 4;         ///< words that are compared at once
constexpr std::uint32_t kMostNesting = 32;  ///< of composites
constexpr std::size_t kMostPointerSteps = 4096;
constexpr Word kOpTypeUntypedPointer = 4417;

bool is_pointer(const Instruction& type) {
  return type.is(Op::OpTypePointer) || type.op() == kOpTypeUntypedPointer;
}

bool is_image_load(Word op) {
  return (op >= number(Op::OpImageSampleImplicitLod) && op <= number(Op::OpImageRead)) ||
         (op >= number(Op::OpImageSparseSampleImplicitLod) && op <= number(Op::OpImageSparseDrefGather)) ||
         op == number(Op::OpImageSparseRead);
}

bool compares_depth(Word op) {
  switch (static_cast<Op>(op)) {
    case Op::OpImageSampleDrefImplicitLod:
    case Op::OpImageSampleDrefExplicitLod:
    case Op::OpImageSampleProjDrefImplicitLod:
    case Op::OpImageSampleProjDrefExplicitLod:
    case Op::OpImageDrefGather:
    case Op::OpImageSparseSampleDrefImplicitLod:
    case Op::OpImageSparseSampleDrefExplicitLod:
    case Op::OpImageSparseSampleProjDrefImplicitLod:
    case Op::OpImageSparseSampleProjDrefExplicitLod:
    case Op::OpImageSparseDrefGather:
      return true;
    default:
      return false;
  }
}

bool gathers(Word op) {
  return op == number(Op::OpImageGather) || op == number(Op::OpImageSparseGather);
}

std::optional<Word> storage_of(const Rewriter& rewriter, Id pointer) {
  const Instruction* type = rewriter.global(rewriter.analysis.type_of(pointer));
  return type != nullptr && is_pointer(*type) ? std::optional((*type)[2]) : std::nullopt;
}

/// The length of an array type that is a plain constant; 0: anything else.
std::uint32_t length_of(const Rewriter& rewriter, const Instruction& array) {
  const Instruction* length = rewriter.global(array[3]);
  return length != nullptr && length->is(Op::OpConstant) && length->size() == 4 ? (*length)[3] : 0;
}

/// Types of the members of a composite. Empty for other types, and for composites of too many members.
std::vector<Id> members_of(const Rewriter& rewriter, const Instruction& type) {
  switch (static_cast<Op>(type.op())) {
    case Op::OpTypeStruct:
      return {type.operands().begin() + 1, type.operands().end()};
    case Op::OpTypeVector:
    case Op::OpTypeMatrix:
      return std::vector<Id>(std::min(type[3], kMostComparedWords + 1), type[2]);
    case Op::OpTypeArray:
      return std::vector<Id>(std::min(length_of(rewriter, type), kMostComparedWords + 1), type[2]);
    default:
      return {};
  }
}

bool is_narrow(const Instruction& type) {
  return (type.is(Op::OpTypeInt) || type.is(Op::OpTypeFloat)) && type[2] < 32;
}

/// Without these capabilities narrow numbers can be converted, but not taken out of composites.
bool is_extractable(const Rewriter& rewriter, const Instruction& type) {
  return rewriter.module.has(type.is(Op::OpTypeFloat) ? spv::Capability::Float16
                             : type[2] == 8           ? spv::Capability::Int8
                                                      : spv::Capability::Int16);
}

/// A vector of numbers of 32 bits or less, with as many words as components.
bool is_short_vector(const Rewriter& rewriter, const Instruction& type) {
  if (!type.is(Op::OpTypeVector) || type[3] < 2 || type[3] > kChunk) {
    return false;
  }
  const Instruction* component = rewriter.global(type[2]);
  return component != nullptr &&
         (component->is(Op::OpTypeInt) || (component->is(Op::OpTypeFloat) && component->size() == 3)) &&
         (*component)[2] <= 32;
}

/// Words of a value of the type; 0: not comparable.
std::uint32_t words_of(const Rewriter& rewriter, Id type, std::uint32_t depth) {
  const Instruction* found = rewriter.global(type);
  if (found == nullptr || depth > kMostNesting) {
    return 0;
  }
  const Word width = (*found)[2];
  const Instruction* scalar = is_short_vector(rewriter, *found) ? rewriter.global((*found)[2]) : found;
  if (is_narrow(*scalar) && depth != 0 && !is_extractable(rewriter, *scalar)) {
    return 0;
  }
  if (scalar != found) {
    return (*found)[3];
  }
  switch (static_cast<Op>(found->op())) {
    case Op::OpTypeBool:
      return 1;
    case Op::OpTypeInt:
      return width == 64 ? 2 : width == 8 || width == 16 || width == 32 ? 1 : 0;
    case Op::OpTypeFloat:  // a further operand names another encoding
      return found->size() > 3 ? 0 : width == 64 ? 2 : width == 16 || width == 32 ? 1 : 0;
    default:
      break;
  }
  if (is_pointer(*found)) {
    return width == static_cast<Word>(StorageClass::PhysicalStorageBuffer) ? 2 : 0;
  }
  std::uint32_t words = 0;
  for (const Id member : members_of(rewriter, *found)) {
    const std::uint32_t more = words_of(rewriter, member, depth + 1);
    words += more;
    if (more == 0 || words > kMostComparedWords) {
      return 0;
    }
  }
  return words;
}

/// Instructions that take values apart into words and compare these with the leader's.
class Comparer {
 public:
  Comparer(Rewriter& rewriter, std::vector<Instruction>& out, Id leader) : r_(rewriter), out_(out), leader_(leader) {}

  void add(Id value, Id type) {
    const Instruction of = *r_.global(type);  // a copy: new types move the module's
    if (of.is(Op::OpTypeBool)) {
      const Id one = r_.linker.constant(1), zero = r_.linker.constant(0);
      word(make(Op::OpSelect, r_.linker.type_uint(), {value, one, zero}));
    } else if (of.is(Op::OpTypeInt) && of[2] < 32) {
      word(make(Op::OpUConvert, r_.linker.type_uint(), {value}));
    } else if (of.is(Op::OpTypeFloat) && of[2] == 16) {
      const Id wide = make(Op::OpFConvert, r_.linker.type_float(), {value});
      word(r_.bitcast(out_, r_.linker.type_uint(), wide));
    } else if ((of.is(Op::OpTypeInt) || of.is(Op::OpTypeFloat)) && of[2] == 32) {
      word(as(r_.linker.type_uint(), type, value));
    } else if (of.is(Op::OpTypeInt) || of.is(Op::OpTypeFloat)) {
      chunk(r_.bitcast(out_, r_.linker.type_uvec(2), value), 2);
    } else if (is_pointer(of)) {
      const Id number = make(Op::OpConvertPtrToU, r_.linker.type_u64(), {value});
      chunk(r_.bitcast(out_, r_.linker.type_uvec(2), number), 2);
    } else if (is_short_vector(r_, of)) {
      chunk(words_of_vector(value, type, of[3], *r_.global(of[2])), of[3]);
    } else {
      const std::vector<Id> members = members_of(r_, of);
      for (std::uint32_t m = 0; m < members.size(); ++m) {
        add(make(Op::OpCompositeExtract, members[m], {value, m}), members[m]);
      }
    }
  }

  Id finish() {
    while (!words_.empty()) {
      const auto n = static_cast<std::uint32_t>(std::min<std::size_t>(words_.size(), kChunk));
      Id id = words_.front();
      if (n > 1) {
        id = r_.linker.fresh();
        Instruction composite(Op::OpCompositeConstruct, {r_.linker.type_uvec(n), id});
        for (std::uint32_t w = 0; w < n; ++w) {
          composite.add(words_[w]);
        }
        out_.push_back(std::move(composite));
      }
      words_.erase(words_.begin(), words_.begin() + n);
      chunk(id, n);
    }
    return same_;
  }

 private:
  Id words_of_vector(Id value, Id type, std::uint32_t components, Instruction component) {
    if (!is_narrow(component)) {
      return as(r_.linker.type_uvec(components), type, value);
    }
    if (component.is(Op::OpTypeInt)) {
      return make(Op::OpUConvert, r_.linker.type_uvec(components), {value});
    }
    const Id wide = make(Op::OpFConvert, r_.linker.type_vec(components), {value});
    return r_.bitcast(out_, r_.linker.type_uvec(components), wide);
  }
  Id make(Op op, Id type, std::initializer_list<Word> operands) {
    const Id id = r_.linker.fresh();
    Instruction instruction(op, {type, id});
    for (const Word operand : operands) {
      instruction.add(operand);
    }
    out_.push_back(std::move(instruction));
    return id;
  }
  Id as(Id wanted, Id given, Id value) {
    return wanted == given ? value : r_.bitcast(out_, wanted, value);
  }
  void word(Id id) {
    words_.push_back(id);
  }
  void chunk(Id id, std::uint32_t words) {
    static constexpr std::array<const char*, kChunk> kProbes = {"rr_same1", "rr_same2", "rr_same3", "rr_same4"};
    const Id type = r_.linker.type_bool();
    const std::array<Id, 2> arguments = {leader_, id};
    const Id same = r_.call(
        out_, type, r_.linker.function(counts_library(r_.options.ballot_extension), kProbes.at(words - 1)), arguments);
    same_ = same_ == 0 ? same : make(Op::OpLogicalAnd, type, {same_, same});
  }

  Rewriter& r_;
  std::vector<Instruction>& out_;
  Id leader_;
  std::vector<Id> words_;
  Id same_ = 0;
};

/// Values that choose an address.
class AddressFinder {
 public:
  AddressFinder(const Rewriter& rewriter, const PointerDefinitions& definitions)
      : r_(rewriter), definitions_(definitions) {}

  /// Adds the values that choose the place that the pointer names. Empty, or why they are not known.
  std::string add_pointer(Id pointer) {
    if (storage_of(r_, pointer) == static_cast<Word>(StorageClass::PhysicalStorageBuffer)) {
      add(pointer);
      return {};
    }
    for (std::size_t step = 0; step < kMostPointerSteps; ++step) {
      const Instruction* i = definitions_.find(pointer);
      if (i == nullptr) {
        return root(pointer);
      }
      switch (static_cast<Op>(i->op())) {
        case Op::OpAccessChain:
        case Op::OpInBoundsAccessChain:
        case Op::OpPtrAccessChain:
        case Op::OpInBoundsPtrAccessChain:
          for (std::size_t w = 4; w < i->size(); ++w) {
            add((*i)[w]);
          }
          break;
        case Op::OpCopyObject:
          break;
        default:
          return kChosen;
      }
      pointer = (*i)[3];
    }
    return kChosen;
  }

  std::string add_image(Id image) {
    for (std::size_t step = 0; step < kMostPointerSteps; ++step) {
      const Instruction* i = definitions_.find(image);
      if (i == nullptr) {
        return kChosen;
      }
      switch (static_cast<Op>(i->op())) {
        case Op::OpLoad:
          return add_pointer((*i)[3]);
        case Op::OpSampledImage:
          if (std::string why = add_image((*i)[4]); !why.empty()) {
            return why;
          }
          break;
        case Op::OpImage:
        case Op::OpCopyObject:
          break;
        default:
          return kChosen;
      }
      image = (*i)[3];
    }
    return kChosen;
  }

  /// Adds a value, unless it is a constant: these choose nothing.
  void add(Id value) {
    if (r_.global(value) == nullptr && std::find(values.begin(), values.end(), value) == values.end()) {
      values.push_back(value);
    }
  }

  std::vector<Id> values;

 private:
  static constexpr const char* kChosen = "their pointers are arguments of functions, or chosen by control flow";

  std::string root(Id variable) {
    const Instruction* global = r_.global(variable);
    if (global == nullptr || !global->is(Op::OpVariable)) {
      return kChosen;
    }
    if ((*global)[3] == static_cast<Word>(StorageClass::ShaderRecordBufferKHR)) {
      return "SPIR-V does not tell the address of a shader record";
    }
    return {};
  }

  const Rewriter& r_;
  const PointerDefinitions& definitions_;
};

}  // namespace

PointerDefinitions::PointerDefinitions(const spirv::Function& function) {
  for (const Instruction& i : function.body) {
    switch (static_cast<Op>(i.op())) {
      case Op::OpAccessChain:
      case Op::OpInBoundsAccessChain:
      case Op::OpPtrAccessChain:
      case Op::OpInBoundsPtrAccessChain:
      case Op::OpCopyObject:
      case Op::OpLoad:
      case Op::OpSampledImage:
      case Op::OpImage:
      case Op::OpImageTexelPointer:
      case Op::OpPhi:
      case Op::OpSelect:
      case Op::OpFunctionParameter:
        definitions_.emplace(i[2], &i);
        break;
      default:
        break;
    }
  }
}

bool is_counted_load(const Rewriter& rewriter, const Instruction& instruction) {
  if (is_image_load(instruction.op())) {
    return true;
  }
  if (!instruction.is(Op::OpLoad)) {
    return false;
  }
  switch (static_cast<StorageClass>(storage_of(rewriter, instruction[3]).value_or(0xFFFFFFFF))) {
    case StorageClass::StorageBuffer:
    case StorageClass::Uniform:
    case StorageClass::PushConstant:
    case StorageClass::ShaderRecordBufferKHR:
    case StorageClass::PhysicalStorageBuffer:
      return true;
    default:
      return false;
  }
}

std::optional<std::vector<Id>> address_of(const Rewriter& rewriter, const PointerDefinitions& definitions,
                                          const Instruction& load, std::string& why) {
  AddressFinder finder(rewriter, definitions);
  if (load.is(Op::OpLoad)) {
    why = finder.add_pointer(load[3]);
  } else {
    why = finder.add_image(load[3]);
    finder.add(load[4]);
    std::size_t mask = 5;
    if (gathers(load.op()) && load.size() > mask) {
      finder.add(load[mask]);
    }
    mask += gathers(load.op()) || compares_depth(load.op()) ? 1U : 0U;
    for (std::size_t w = mask + 1; w < load.size(); ++w) {
      finder.add(load[w]);
    }
  }
  if (!why.empty()) {
    return std::nullopt;
  }
  if (std::any_of(finder.values.begin(), finder.values.end(),
                  [&](Id value) { return !is_comparable(rewriter, rewriter.analysis.type_of(value)); })) {
    why = "their indices cannot be compared";
    return std::nullopt;
  }
  return std::move(finder.values);
}

bool is_comparable(const Rewriter& rewriter, Id type) {
  return words_of(rewriter, type, 0) != 0;
}

std::uint32_t value_components(const Rewriter& rewriter, Id type, std::string& why) {
  const Instruction* of = rewriter.global(type);
  const bool vector = of != nullptr && of->is(Op::OpTypeVector);
  const Instruction* number = vector ? rewriter.global((*of)[2]) : of;
  if (number == nullptr || (!number->is(Op::OpTypeInt) && !number->is(Op::OpTypeFloat)) ||
      (vector && ((*of)[3] < 2 || (*of)[3] > kChunk))) {
    why = "structures, arrays, matrices, pointers and the like";
    return 0;
  }
  if ((*number)[2] != 32 || (number->is(Op::OpTypeFloat) && number->size() > 3)) {
    why = "numbers of other than 32 bits";
    return 0;
  }
  return vector ? (*of)[3] : 1;
}

Id value_words(Rewriter& rewriter, std::vector<Instruction>& out, Id value, std::uint32_t components) {
  const Id given = rewriter.analysis.type_of(value);
  const Id wanted = components == 1 ? rewriter.linker.type_uint() : rewriter.linker.type_uvec(components);
  const Id words = given == wanted ? value : rewriter.bitcast(out, wanted, value);
  if (components == kChunk) {
    return words;
  }
  const Id all = rewriter.linker.fresh();
  Instruction composite(Op::OpCompositeConstruct, {rewriter.linker.type_uvec(kChunk), all, words});
  for (std::uint32_t c = components; c < kChunk; ++c) {
    composite.add(rewriter.linker.constant(0));
  }
  out.push_back(std::move(composite));
  return all;
}

Id compare(Rewriter& rewriter, std::vector<Instruction>& out, Id leader, std::span<const Id> values) {
  Comparer comparer(rewriter, out, leader);
  for (const Id value : values) {
    // Others are in invalid modules alone: conditions of no type, ids that are there twice.
    if (const Id type = rewriter.analysis.type_of(value); is_comparable(rewriter, type)) {
      comparer.add(value, type);
    }
  }
  return comparer.finish();
}

}  // namespace rayreplay::instrument
