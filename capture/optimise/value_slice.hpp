// Consequences of one value of a function: copies of it, and integers and booleans computed from it.
//
// Contract: `Derived` finds, in the order of the function, the instructions whose result depends on `root` and that can
// be computed again without effect: integer and logical operations, comparisons, selections, copies, and loads of
// local variables that are stored once, with such a value, before every one of these loads. `holds` tells whether a
// value is the root or one of them. `computed` gives what such an instruction gives for known operands, as SPIR-V
// defines it for 32 bits; none for unknown operands, other types, and where SPIR-V leaves the result undefined. Linear
// in the function.
#pragma once

#include <optional>
#include <unordered_map>

#include "capture/optimise/function_blocks.hpp"
#include "capture/spirv/module_index.hpp"

namespace rayreplay::optimise {

class Derived {
 public:
  Derived(const FunctionBlocks& function, const spirv::ControlFlow& flow, Id root);

  [[nodiscard]] bool holds(Id value) const {
    return value == root_ || places_.contains(value);
  }
  /// Block of a derived value's instruction, as its place in the function.
  struct Value {
    std::size_t block = 0;
    Instruction instruction;
  };
  [[nodiscard]] const std::vector<Value>& values() const {
    return values_;
  }
  /// The value that a load of a local variable gives; 0: it is no such load.
  [[nodiscard]] Id loaded(const Instruction& load) const;

 private:
  Id root_;
  std::unordered_map<Id, std::size_t> places_;
  std::unordered_map<Id, Id> stored_;  ///< by result of a load: the value
  std::vector<Value> values_;
};

/// 32-bit integers, and booleans as 0 and 1, by id.
using Known = std::unordered_map<Id, Word>;

[[nodiscard]] std::optional<Word> computed(const Instruction& i, const Known& known, const spirv::ModuleIndex& index);

}  // namespace rayreplay::optimise
