#include "capture/spirv/control_flow.hpp"

#include <algorithm>
#include <unordered_map>

namespace rayreplay::spirv {

using spv::Op;

std::optional<Ending> ending_of(Word op) {
  switch (static_cast<Op>(op)) {
    case Op::OpBranch:
      return Ending::Branch;
    case Op::OpBranchConditional:
      return Ending::ConditionalBranch;
    case Op::OpSwitch:
      return Ending::Switch;
    case Op::OpReturn:
    case Op::OpReturnValue:
      return Ending::Return;
    case Op::OpKill:
    case Op::OpTerminateInvocation:
    case Op::OpIgnoreIntersectionKHR:
    case Op::OpTerminateRayKHR:
    case Op::OpEmitMeshTasksEXT:
      return Ending::Abort;
    case Op::OpUnreachable:
      return Ending::Unreachable;
    default:
      return std::nullopt;
  }
}

std::vector<Id> targets_of(const Instruction& last, std::size_t literal_words) {
  std::vector<Id> targets;
  switch (static_cast<Op>(last.op())) {
    case Op::OpBranch:
      targets = {last[1]};
      break;
    case Op::OpBranchConditional:
      targets = {last[2], last[3]};
      break;
    case Op::OpSwitch:
      targets = {last[2]};
      for (std::size_t i = 3 + literal_words; i < last.size(); i += literal_words + 1) {
        targets.push_back(last[i]);
      }
      break;
    default:
      break;
  }
  return targets;
}

WideSelectors::WideSelectors(const Module& module) {
  std::unordered_set<Id> types;
  for (const Instruction& i : module.globals) {
    if (i.is(Op::OpTypeInt) && i[2] > 32) {
      types.insert(i[1]);
    }
  }
  if (types.empty()) {
    return;
  }
  const auto note = [&](const std::vector<Instruction>& list) {
    for (const Instruction& i : list) {
      if (types.contains(i.result_type())) {
        wide_.insert(i.result());
      }
    }
  };
  note(module.globals);
  for (const Function& function : module.functions) {
    note(function.body);
  }
}

namespace {

/// Instructions that may stand between blocks.
bool is_between_blocks(const Instruction& i) {
  return i.is(Op::OpLine) || i.is(Op::OpNoLine) || i.is(Op::OpNop);
}

std::string at_instruction(std::size_t index, const Function& function) {
  return "instruction " + std::to_string(index) + " of function " + std::to_string(function.id());
}

/// Empty, with a reason, for a body that is no list of blocks.
std::optional<std::vector<Block>> blocks_of(const Function& function, std::string& reason) {
  std::vector<Block> blocks;
  bool open = false;
  std::size_t i = 1;
  for (; i < function.body.size() && !function.body[i].is(Op::OpFunctionEnd); ++i) {
    const Instruction& instruction = function.body[i];
    if (instruction.is(Op::OpLabel)) {
      if (open) {
        reason = "a block that does not end before " + at_instruction(i, function);
        return std::nullopt;
      }
      open = true;
      blocks.emplace_back();
      blocks.back().label = instruction[1];
      blocks.back().first = i;
    } else if (!open) {
      if (!is_between_blocks(instruction) && !(blocks.empty() && instruction.is(Op::OpFunctionParameter))) {
        reason = at_instruction(i, function) + " is in no block";
        return std::nullopt;
      }
    } else if (instruction.is(Op::OpSelectionMerge) || instruction.is(Op::OpLoopMerge)) {
      blocks.back().merge = instruction[1];
      blocks.back().continue_target = instruction.is(Op::OpLoopMerge) ? instruction[2] : 0;
    } else if (const std::optional<Ending> ending = ending_of(instruction.op())) {
      blocks.back().ending = *ending;
      blocks.back().last = i;
      open = false;
    }
  }
  if (open || i == function.body.size()) {
    reason = "function " + std::to_string(function.id()) + " does not end";
    return std::nullopt;
  }
  return blocks;
}

}  // namespace

ControlFlow control_flow(Graph graph) {
  ControlFlow flow;
  flow.graph = std::move(graph);
  const auto nodes = static_cast<Node>(flow.graph.size());
  if (nodes == 0) {
    return flow;
  }
  flow.order = depth_first(flow.graph, 0).reverse_postorder;
  flow.dominators = dominators(flow.graph, 0);
  flow.loops = loops(flow.graph, flow.dominators, flow.order);
  Graph back = reversed(flow.graph);
  back.successors.emplace_back();
  back.predecessors.emplace_back();
  for (Node v = 0; v < nodes; ++v) {
    if (flow.graph.successors[v].empty()) {
      back.connect(nodes, v);
    }
  }
  flow.post_dominator = dominators(back, nodes).parent;
  flow.post_dominator.resize(nodes);
  std::replace(flow.post_dominator.begin(), flow.post_dominator.end(), nodes, kNoNode);
  return flow;
}

std::optional<ControlFlow> control_flow(const Function& function, const WideSelectors& selectors, std::string& reason) {
  std::optional<std::vector<Block>> blocks = blocks_of(function, reason);
  if (!blocks) {
    return std::nullopt;
  }
  std::unordered_map<Id, Node> node_of;
  for (Node b = 0; b < blocks->size(); ++b) {
    if (!node_of.emplace((*blocks)[b].label, b).second) {
      reason = "two blocks with label " + std::to_string((*blocks)[b].label);
      return std::nullopt;
    }
  }
  Graph graph(blocks->size());
  std::vector<Node> connected_from(blocks->size(), kNoNode);
  for (Node b = 0; b < blocks->size(); ++b) {
    const Instruction& last = function.body[(*blocks)[b].last];
    for (const Id target : targets_of(last, selectors.literal_words(last[1]))) {
      const auto to = node_of.find(target);
      if (to == node_of.end()) {
        reason = "block " + std::to_string((*blocks)[b].label) + " branches to " + std::to_string(target) +
                 ", which is no block of its function";
        return std::nullopt;
      }
      if (connected_from[to->second] != b) {
        connected_from[to->second] = b;
        graph.connect(b, to->second);
      }
    }
  }
  ControlFlow flow = control_flow(std::move(graph));
  flow.blocks = std::move(*blocks);
  return flow;
}

}  // namespace rayreplay::spirv
