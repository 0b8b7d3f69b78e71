// The issue slots that a module executes by the profile: the measure of every step.
//
// Contract: `size_of` sums instructions and executed issue slots as optimise.hpp defines them; blocks without a count
// add nothing to the slots. `slots_of` are those of one execution of an instruction. Linear.
#pragma once

#include "capture/optimise/function_blocks.hpp"
#include "capture/spirv/instruction_class.hpp"

namespace rayreplay::optimise {

struct Size {
  std::uint64_t instructions = 0;
  double slots = 0;
};

[[nodiscard]] Size size_of(const Module& module, const Counts& counts);

[[nodiscard]] std::uint32_t slots_of(const Instruction& i, const spirv::Classifier& classes,
                                     const spirv::WideSelectors& wide);

}  // namespace rayreplay::optimise
