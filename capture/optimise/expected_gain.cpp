#include "capture/optimise/expected_gain.hpp"

#include <bit>

namespace rayreplay::optimise {
namespace {

constexpr std::uint32_t kSlotsOfLevel = 2;

/// Slots that a switch takes beyond its own instruction.
std::uint32_t switch_slots(const Instruction& last, const spirv::WideSelectors& wide) {
  const std::size_t values = (last.size() - 3) / (wide.literal_words(last[1]) + 1);
  const auto levels = static_cast<std::uint32_t>(std::bit_width(values));  // of a tree with a leaf for the default
  return levels == 0 ? 0 : levels * kSlotsOfLevel - 1;
}

}  // namespace

std::uint32_t slots_of(const Instruction& i, const spirv::Classifier& classes, const spirv::WideSelectors& wide) {
  // Compilers lay blocks out so that most branches without a condition take nothing.
  return i.is(spv::Op::OpBranch) ? 0 : classes.issue_slots(i) + (i.is(spv::Op::OpSwitch) ? switch_slots(i, wide) : 0);
}

Size size_of(const Module& module, const Counts& counts) {
  const spirv::Classifier classes(module);
  const spirv::WideSelectors wide(module);
  Size size;
  for (const auto& function : module.functions) {
    double lanes = 0;
    for (const Instruction& i : function.body) {
      if (i.is(spv::Op::OpLabel)) {
        const auto found = counts.find(i[1]);
        lanes = found == counts.end() ? 0 : static_cast<double>(found->second);
      }
      size.instructions += !i.is(spv::Op::OpBranch) && spirv::issues(classes.of(i)) ? 1U : 0U;
      size.slots += lanes * slots_of(i, classes, wide);
    }
  }
  return size;
}

}  // namespace rayreplay::optimise
