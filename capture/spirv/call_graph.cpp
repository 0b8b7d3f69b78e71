#include "capture/spirv/call_graph.hpp"

#include "capture/spirv/graph.hpp"

#include <algorithm>

namespace rayreplay::spirv {

CallGraph call_graph(const Module& module) {
  CallGraph graph;
  graph.callees.resize(module.functions.size());
  for (std::uint32_t f = 0; f < module.functions.size(); ++f) {
    graph.function_of.emplace(module.functions[f].id(), f);
  }
  for (std::uint32_t f = 0; f < module.functions.size(); ++f) {
    for (const Instruction& i : module.functions[f].body) {
      if (i.is(spv::Op::OpFunctionCall)) {
        if (const auto callee = graph.function_of.find(i[3]); callee != graph.function_of.end()) {
          graph.callees[f].push_back(callee->second);
        }
      }
    }
  }
  return graph;
}

Reached reached_from(const CallGraph& graph, std::uint32_t function) {
  Graph calls;
  calls.successors = graph.callees;
  Reached reached;
  reached.functions = depth_first(calls, function).reverse_postorder;
  std::vector<std::size_t> place(calls.size(), 0);
  for (std::size_t i = 0; i < reached.functions.size(); ++i) {
    place[reached.functions[i]] = i;
  }
  for (const std::uint32_t f : reached.functions) {
    for (const std::uint32_t callee : graph.callees[f]) {
      reached.recursion = reached.recursion || place[callee] <= place[f];
    }
  }
  return reached;
}

}  // namespace rayreplay::spirv
