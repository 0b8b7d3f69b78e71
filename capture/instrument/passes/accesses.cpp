#include "capture/instrument/passes/accesses.hpp"

#include <array>

#include "capture/instrument/probe_libraries.hpp"
#include "capture/instrument/probes/record.h"

namespace rayreplay::instrument {

using spv::Op;

namespace {

constexpr Word kOpCooperativeMatrixLoad = 4457, kOpCooperativeMatrixStore = 4458;  // KHR
constexpr Word kOpCooperativeMatrixLoadNV = 5359, kOpCooperativeMatrixStoreNV = 5360;

bool is_atomic_with_result(Word op) {
  constexpr Word kOpAtomicFMin = 5614, kOpAtomicFMax = 5615, kOpAtomicFAdd = 6035;  // EXT
  return op == number(Op::OpAtomicLoad) || (op >= number(Op::OpAtomicExchange) && op <= number(Op::OpAtomicXor)) ||
         op == kOpAtomicFMin || op == kOpAtomicFMax || op == kOpAtomicFAdd;
}

}  // namespace

void Accesses::enter(const Function& function) {
  definitions_.emplace(function);
  labels_ = 0;
}

std::optional<Accesses::Access> Accesses::access_of(const Instruction& i) const {
  const Analysis& analysis = rewriter_.analysis;
  if (i.is(Op::OpLoad)) {
    return Access{AccessKind::Load, i[3], i[1]};
  }
  if (i.is(Op::OpStore)) {
    return Access{AccessKind::Store, i[1], analysis.type_of(i[2])};
  }
  if (i.is(Op::OpAtomicStore)) {
    return Access{AccessKind::Atomic, i[1], analysis.type_of(i[4])};
  }
  if (is_atomic_with_result(i.op())) {
    return Access{AccessKind::Atomic, i[3], i[1]};
  }
  return std::nullopt;
}

std::string Accesses::beyond(const Instruction& i) const {
  const auto of_buffer = [&](Id pointer) {
    return layout_.space_of(pointer).has_value() && !layout_.is_uniform(*definitions_, pointer);
  };
  if (i.is(Op::OpCopyMemory) || i.is(Op::OpCopyMemorySized)) {
    return of_buffer(i[1]) || of_buffer(i[2]) ? "they copy memory" : "";
  }
  if (i.op() == kOpCooperativeMatrixLoad || i.op() == kOpCooperativeMatrixLoadNV) {
    return of_buffer(i[3]) ? "they are of cooperative matrices" : "";
  }
  if (i.op() == kOpCooperativeMatrixStore || i.op() == kOpCooperativeMatrixStoreNV) {
    return of_buffer(i[1]) ? "they are of cooperative matrices" : "";
  }
  return {};
}

void Accesses::before(const Place& place, std::size_t function, std::uint32_t index, const Instruction& instruction) {
  if (instruction.is(Op::OpLabel)) {
    ++labels_;
    return;
  }
  AccessSite site;
  site.function = static_cast<std::uint32_t>(function);
  site.block = labels_ - 1;
  site.instruction = index;
  std::string why = beyond(instruction);
  std::string image_why = other_image_access(instruction);
  const auto access = access_of(instruction);
  const auto space = access ? layout_.space_of(access->pointer) : std::nullopt;
  if (space && !layout_.is_uniform(*definitions_, access->pointer)) {
    site.kind = access->kind;
    site.space = *space;
    why = record(place, *access, std::move(site));
  } else if (const auto image =
                 access ? images_.atomic(*definitions_, access->pointer) : image_instruction(instruction);
             image) {
    image_why = record_image(place, *image, std::move(site));
  }
  if (!why.empty()) {
    ++left_out_[why];
  }
  if (!image_why.empty()) {
    ++images_left_out_[image_why];
  }
}

std::string Accesses::record(const Place& place, const Access& access, AccessSite site) {
  Rewriter& r = rewriter_;
  if (std::string full = fault_of_number(); !full.empty()) {
    return full;
  }
  std::string why;
  const bool device = site.space == AccessSpace::Device;
  std::optional<BufferPlace> at;
  if (device) {
    const auto bytes = layout_.bytes_at(*definitions_, access.pointer, access.type, why);
    if (!bytes) {
      return why;
    }
    site.bytes = *bytes;
    std::string unknown;  // then the device converts the pointer itself
    at = layout_.place_of(*definitions_, access.pointer, unknown);
  } else {
    at = layout_.place_of(*definitions_, access.pointer, why);
    if (!at) {
      return why;
    }
    site.set = at->set;
    site.binding = at->binding;
    site.element = at->element;
    site.bytes = at->bytes;
  }
  const Id number = r.linker.constant(static_cast<std::uint32_t>(r.result.accesses.size()));
  const Id value = device ? address(place.out, at, access.pointer) : offset(place.out, *at);
  const std::array<Id, 2> arguments = {number, value};
  const char* probe = device ? "rr_access_address" : "rr_access_offset";
  (void)r.call_probe(place.out, r.linker.type_void(),
                     r.linker.function(accesses_library(r.options.ballot_extension), probe), place.shaders, arguments);
  add(place, std::move(site));
  return {};
}

std::string Accesses::record_image(const Place& place, const ImageInstruction& access, AccessSite site) {
  std::string why = fault_of_number();
  if (why.empty()) {
    const auto number = static_cast<std::uint32_t>(rewriter_.result.accesses.size());
    why = images_.record(place, *definitions_, access, number, site);
  }
  if (why.empty()) {
    add(place, std::move(site));
  }
  return why;
}

std::string Accesses::fault_of_number() const {
  return rewriter_.result.accesses.size() < RR_MAX_ACCESS_SITES
             ? ""
             : "their module has more than " + std::to_string(RR_MAX_ACCESS_SITES);
}

void Accesses::add(const Place& place, AccessSite site) {
  for (const std::uint32_t s : place.shaders) {
    site.shaders.push_back(rewriter_.analysis.shaders[s].id);
  }
  rewriter_.result.accesses.push_back(std::move(site));
}

Id Accesses::sum(std::vector<Instruction>& out, const BufferPlace& place, Id base) {
  Rewriter& r = rewriter_;
  const bool wide = base != 0;
  const Id type = wide ? r.linker.type_u64() : r.linker.type_uint();
  const auto constant = [&](std::uint64_t value) {
    return wide ? r.linker.constant_u64(value) : r.linker.constant(static_cast<std::uint32_t>(value));
  };
  const auto operation = [&](Op op, Id a, Id b) {
    const Id result = r.linker.fresh();
    out.emplace_back(op, std::initializer_list<Word>{type, result, a, b});
    return result;
  };
  Id sum = base;
  if (place.constant != 0 || (!wide && place.terms.empty())) {
    sum = wide ? operation(Op::OpIAdd, base, constant(place.constant)) : constant(place.constant);
  }
  for (const auto& [index, bytes] : place.terms) {
    const Instruction* of = r.global(r.analysis.type_of(index));
    Id number = 0;
    if ((*of)[2] == (wide ? 64U : 32U)) {
      number = r.analysis.type_of(index) == type ? index : r.bitcast(out, type, index);
    } else {
      number = r.linker.fresh();
      out.emplace_back((*of)[3] != 0 ? Op::OpSConvert : Op::OpUConvert,
                       std::initializer_list<Word>{type, number, index});
    }
    const Id product = operation(Op::OpIMul, number, constant(bytes));
    sum = sum == 0 ? product : operation(Op::OpIAdd, sum, product);
  }
  return sum;
}

Id Accesses::offset(std::vector<Instruction>& out, const BufferPlace& place) {
  return sum(out, place, 0);
}

// The address is computed from where the access chains begin. Converting the pointer itself would be shorter, but a
// driver (NVIDIA 580) gives other addresses than its loads use for elements of row-major matrices.
Id Accesses::address(std::vector<Instruction>& out, const std::optional<BufferPlace>& place, Id pointer) {
  Rewriter& r = rewriter_;
  const Id base = r.linker.fresh();
  out.emplace_back(Op::OpConvertPtrToU,
                   std::initializer_list<Word>{r.linker.type_u64(), base, place ? place->root : pointer});
  return r.bitcast(out, r.linker.type_uvec(2), place ? sum(out, *place, base) : base);
}

void Accesses::finish() {
  for (const auto& [why, count] : left_out_) {
    rewriter_.note("addresses of " + std::to_string(count) +
                   (count == 1 ? " access to a buffer are" : " accesses to buffers are") + " not recorded: " + why);
  }
  for (const auto& [why, count] : images_left_out_) {
    rewriter_.note("texels of " + std::to_string(count) +
                   (count == 1 ? " access to an image are" : " accesses to images are") + " not recorded: " + why);
  }
}

}  // namespace rayreplay::instrument
