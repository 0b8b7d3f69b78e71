#include <algorithm>

#include "capture/instrument/passes/passes.hpp"

namespace rayreplay::instrument {

using spv::BuiltIn;
using spv::Op;

namespace {

/// Further instructions that may hold a pointer to a variable, except debug information, which may stay with the
/// variable.
bool may_use_pointer(Word op) {
  switch (static_cast<Op>(op)) {
    case Op::OpStore:
    case Op::OpFunctionCall:
    case Op::OpPtrAccessChain:
    case Op::OpInBoundsPtrAccessChain:
    case Op::OpAccessChain:
    case Op::OpInBoundsAccessChain:
    case Op::OpCopyObject:
    case Op::OpSelect:
    case Op::OpPhi:
    case Op::OpBitcast:
    case Op::OpReturnValue:
    case Op::OpCompositeConstruct:
    case Op::OpPtrEqual:
    case Op::OpPtrNotEqual:
    case Op::OpPtrDiff:
    case Op::OpCopyMemory:
    case Op::OpCopyMemorySized:
    case Op::OpArrayLength:
    case Op::OpImageTexelPointer:
      return true;
    default:
      return op >= number(Op::OpAtomicLoad) && op <= number(Op::OpAtomicXor);
  }
}

/// End of the words of such an instruction that can be ids; memory operands are not.
std::size_t id_end(const Instruction& i) {
  return i.is(Op::OpStore) || i.is(Op::OpCopyMemory) ? std::min<std::size_t>(i.size(), 3) : i.size();
}

}  // namespace

void ReplacedBuiltins::replace(Rewriter& r, BuiltIn which) {
  for (const Id variable : r.variables(which)) {
    replaced_.emplace(variable, Copy{which, r.pointee(variable), 0});
  }
}

Id ReplacedBuiltins::copy(Rewriter& r, Copy& copy) {
  if (copy.variable == 0) {
    copy.variable = copy.type == r.canonical_type(copy.which) ? r.private_copy(copy.which) : r.private_of(copy.type);
  }
  return copy.variable;
}

std::string ReplacedBuiltins::rewrite(Rewriter& r, Instruction& i) {
  if (replaced_.empty()) {
    return {};
  }
  const bool load = i.is(Op::OpLoad);
  const bool chain = i.is(Op::OpAccessChain) || i.is(Op::OpInBoundsAccessChain);
  if (load || chain) {
    if (const auto found = replaced_.find(i[3]); found != replaced_.end()) {
      if (chain && i.size() != 5) {
        return "a built-in variable is accessed by a chain without one index";
      }
      i.set(3, copy(r, found->second));
      if (chain) {
        // Of a vector: to a component; of a scalar there is none.
        i.set(1, r.linker.type_pointer(spv::StorageClass::Private, r.component_type(found->second.type)));
        chains_.insert(i[2]);
      }
      return {};
    }
    if (load) {
      return {};
    }
  }
  if (i.is(Op::OpCopyMemory) || i.is(Op::OpCopyMemorySized)) {
    if (const auto found = replaced_.find(i[2]); found != replaced_.end()) {
      i.set(2, copy(r, found->second));
      return {};
    }
    if (chains_.contains(i[2])) {
      return {};
    }
  }
  if (may_use_pointer(i.op())) {
    for (std::size_t at = 1; at < id_end(i); ++at) {
      if (replaced_.contains(i[at]) || chains_.contains(i[at])) {
        return "a built-in variable is used as a pointer by instruction " + std::to_string(i.op());
      }
    }
  }
  return {};
}

void ReplacedBuiltins::store_copies(Rewriter& r, std::vector<Instruction>& out) const {
  for (const auto& [variable, copy] : replaced_) {
    // Of the canonical type: the wrapper sets it with the other private copies.
    if (copy.variable != 0 && copy.type != r.canonical_type(copy.which)) {
      const Id value = r.load(out, r.canonical_type(copy.which), r.private_copy(copy.which));
      r.store(out, copy.variable, r.bitcast(out, copy.type, value));
    }
  }
}

void ReplacedBuiltins::ask_for_copies(Rewriter& r) const {
  for (const auto& [variable, copy] : replaced_) {
    if (copy.variable != 0) {
      (void)r.private_copy(copy.which);
    }
  }
}

}  // namespace rayreplay::instrument
