// Names of what branches decide on and loads read, by the names that a module has.
//
// Contract: `of` takes a branch, a load, or a read or sample of an image of the module. Members and elements follow the
// name of the variable or of its type: "table.rows[].x"; an index that is not constant is left out. Without names of
// variable and type, `of` gives what the chain has ("2[]"), and `place_of` what the shader's interface has: "2[] of
// binding 0/3" (set 0, binding 3), "member 2 of the push constants". O(length of the access chain).
#pragma once

#include <map>
#include <string>
#include <utility>

#include "capture/spirv/inline_view.hpp"

namespace rayreplay::profile {

/// "branch" or "switch"; "" for any other instruction.
[[nodiscard]] std::string branch_kind(const spirv::Instruction& i);
/// "load", "image read" or "sample"; "" for any other instruction.
[[nodiscard]] std::string load_kind(const spirv::Instruction& i);

class PlaceNames {
 public:
  /// The module must outlive this.
  explicit PlaceNames(const spirv::Analysed& module);

  /// The condition, selector or loaded place; "" without names.
  [[nodiscard]] std::string of(const spirv::Instruction& i) const;
  /// The loaded place, by its binding where it has no name; never "".
  [[nodiscard]] std::string place_of(const spirv::Instruction& load) const;
  /// The place that a load, store, atomic, or access to an image touches, by its binding where it has no name; "" for
  /// other instructions.
  [[nodiscard]] std::string accessed_by(const spirv::Instruction& i) const;

 private:
  enum class Fallback : bool { None, Interface };
  [[nodiscard]] std::string of_value(spirv::Id value, Fallback fallback) const;
  [[nodiscard]] std::string of_pointer(spirv::Id pointer, Fallback fallback) const;
  [[nodiscard]] std::string of_variable(spirv::Id variable) const;

  const spirv::Analysed& analysed_;
  std::map<std::pair<spirv::Id, spirv::Word>, std::string> members_;
  std::map<spirv::Id, spirv::Word> sets_, bindings_;
};

}  // namespace rayreplay::profile
