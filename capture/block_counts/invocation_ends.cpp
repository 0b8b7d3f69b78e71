#include "capture/block_counts/invocation_ends.hpp"

#include <unordered_map>

namespace rayreplay::block_counts {

using spirv::Id;
using spirv::Instruction;
using spv::Op;

bool may_end_at(const Instruction& i) {
  // A demoted invocation goes on as a helper, which counts nothing.
  return i.is(Op::OpDemoteToHelperInvocation) || i.is(Op::OpReportIntersectionKHR) ||
         i.is(Op::OpIgnoreIntersectionNV) || i.is(Op::OpTerminateRayNV);
}

InvocationEnds::InvocationEnds(const spirv::Module& module) {
  std::unordered_map<Id, std::vector<Id>> callers;
  std::vector<Id> open;
  for (const spirv::Function& function : module.functions) {
    for (const Instruction& i : function.body) {
      if (i.is(Op::OpFunctionCall)) {
        callers[i[3]].push_back(function.id());
      } else if (may_end_at(i) || spirv::ending_of(i.op()) == spirv::Ending::Abort) {
        open.push_back(function.id());
      }
    }
  }
  while (!open.empty()) {
    const Id function = open.back();
    open.pop_back();
    if (functions_.insert(function).second) {
      const auto above = callers.find(function);
      if (above != callers.end()) {
        open.insert(open.end(), above->second.begin(), above->second.end());
      }
    }
  }
}

std::vector<bool> InvocationEnds::blocks_of(const spirv::Function& function, const spirv::ControlFlow& flow) const {
  std::vector<bool> result(flow.graph.size(), false);
  for (std::size_t b = 0; b < flow.blocks.size(); ++b) {
    for (std::size_t at = flow.blocks[b].first; at <= flow.blocks[b].last; ++at) {
      const Instruction& i = function.body[at];
      if (may_end_at(i) || (i.is(Op::OpFunctionCall) && functions_.contains(i[3]))) {
        result[b] = true;
      }
    }
  }
  return result;
}

}  // namespace rayreplay::block_counts
