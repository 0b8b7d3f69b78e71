#include "capture/block_counts/group_sources.hpp"

#include <algorithm>
#include <numeric>

#include "capture/block_counts/invocation_ends.hpp"
#include "capture/spirv/instruction_class.hpp"

namespace rayreplay::block_counts {

using spirv::Node;

bool may_change_group(const spirv::Instruction& instruction) {
  return instruction.is(spv::Op::OpFunctionCall) || spirv::call_kind(instruction.op()) || may_end_at(instruction);
}

std::vector<Node> group_sources(const spirv::Function& function, const spirv::ControlFlow& flow) {
  const auto passes_on = [&](Node block) {
    const spirv::Block& of = flow.blocks[block];
    return flow.graph.successors[block].size() == 1 &&
           std::none_of(function.body.begin() + static_cast<std::ptrdiff_t>(of.first),
                        function.body.begin() + static_cast<std::ptrdiff_t>(of.last) + 1, may_change_group);
  };
  std::vector<Node> sources(flow.graph.size());
  std::iota(sources.begin(), sources.end(), Node{0});
  // In this order an only predecessor comes before its block.
  for (const Node block : flow.order) {
    const std::vector<Node>& before = flow.graph.predecessors[block];
    if (block != 0 && before.size() == 1 && passes_on(before[0])) {
      sources[block] = sources[before[0]];
    }
  }
  return sources;
}

}  // namespace rayreplay::block_counts
