// Consequences of one value of a function: copies of it, and numbers and booleans computed from it.
//
// Contract: `Derived` finds, in the order of the function, the instructions whose result depends on `root` and that can
// be computed again without effect: integer and logical operations, comparisons, selections, copies, and loads of
// local variables that are stored once, with such a value, before every one of these loads. With Follow::Numbers also
// comparisons and conversions of floats, operations that make and take apart vectors, and loads of one component of
// such a variable. `holds` tells whether a value is the root or one of them. Their results for known operands are in
// known_values.hpp. Linear in the function.
//
// `sources_of` finds in the other direction the values from which one follows: no value outside this set is a root
// whose Derived holds it. Linear in the function.
#pragma once

#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "capture/optimise/function_blocks.hpp"

namespace rayreplay::optimise {

enum class Follow : std::uint8_t { WholeNumbers, Numbers };

class Derived {
 public:
  Derived(const FunctionBlocks& function, const spirv::ControlFlow& flow, Id root,
          Follow follow = Follow::WholeNumbers);

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
  /// The index of the component that such a load takes of it; 0: the load takes all. Follow::Numbers alone.
  [[nodiscard]] Id component(const Instruction& load) const;

 private:
  struct Load {
    Id value = 0, component = 0;
  };
  Id root_;
  std::unordered_map<Id, std::size_t> places_;
  std::unordered_map<Id, Load> stored_;  ///< by result of a load
  std::vector<Value> values_;
};

[[nodiscard]] std::unordered_set<Id> sources_of(const FunctionBlocks& function, Id value);

}  // namespace rayreplay::optimise
