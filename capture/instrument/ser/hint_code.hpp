// SPIR-V of hints: from a program (hint_program.hpp) to code in a module.
//
// Contract: `formula_code` appends code that computes the program's value in doubles, operation by operation, each a
// call of the function of probes/formulas.comp, and brings it to a hint of u32: truncated, from 0 to 2^bits − 1, with
// what lies outside at the nearer end and no number as 0. A `HintFunction` is a function of the module that reads a hit
// object which a ray was just traced into. The device must have shaderFloat64 and shaderInt64. Linear in the terms.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "capture/instrument/link.hpp"
#include "capture/instrument/ser/hint_program.hpp"
#include "capture/instrument/ser/hit_object_words.hpp"

namespace rayreplay::instrument {

/// The ids of the fields' values, doubles; 0 where a program does not use the field.
using HintValues = std::array<Id, kHintFields.size()>;

[[nodiscard]] Id formula_code(Linker& linker, std::vector<Instruction>& out, const HintProgram& program,
                              const HintValues& values);

class HintFunction {
 public:
  /// `hit_object`: a private variable. It must hold a hit or a miss wherever the function is called.
  HintFunction(Linker& linker, const HintProgram& program, Id hit_object, const HitObjectWords& words);

  [[nodiscard]] Id id() const {
    return id_;
  }
  /// Fields that a hit object lacks and the callers know: arguments in this order, f32 for TMax and u32 for the others.
  [[nodiscard]] std::span<const HintField> arguments() const {
    return arguments_;
  }

 private:
  Id id_ = 0;
  std::vector<HintField> arguments_;
};

}  // namespace rayreplay::instrument
