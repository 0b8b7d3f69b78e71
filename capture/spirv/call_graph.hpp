// Which functions of a module call which.
//
// Contract: calls of functions that the module does not have are left out. Linear in the module.
#pragma once

#include <unordered_map>

#include "capture/spirv/module.hpp"

namespace rayreplay::spirv {

struct CallGraph {
  std::unordered_map<Id, std::uint32_t> function_of;  ///< function id -> index in Module::functions
  std::vector<std::vector<std::uint32_t>> callees;    ///< by function, once for each call, in the module's order
};

[[nodiscard]] CallGraph call_graph(const Module& module);

/// The functions that one reaches, itself included.
struct Reached {
  std::vector<std::uint32_t> functions;  ///< each after all its callers, unless there is recursion
  bool recursion = false;
};
[[nodiscard]] Reached reached_from(const CallGraph& graph, std::uint32_t function);

}  // namespace rayreplay::spirv
