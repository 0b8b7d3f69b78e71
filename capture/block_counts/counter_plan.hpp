// Where a function's blocks are counted.
//
// All: every reached block. Sparse: some blocks count lanes, and the group sources (group_sources.hpp) count groups;
// those of all blocks follow, and no edge is counted. Minimal: the arcs outside a maximum spanning tree of the flow
// network, which determine all others (Knuth and Stevenson, "Optimal measurement points for program frequency counts",
// 1973; Ball and Larus, "Optimally profiling and tracing programs", TOPLAS 1994). Arcs weigh by loop depth, so that
// counters lie outside loops where they can. Arcs that cannot be counted are taken into the tree first. If such arcs
// alone form a circuit, no tree has them all: every block is then counted, which `all_because` says.
//
// Contract: deterministic; derived_counts.hpp gives every block's count from the sites' counts. O(arcs · log arcs).
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "capture/block_counts/flow_network.hpp"

namespace rayreplay::block_counts {

enum class CounterSet : std::uint8_t { All = 0, Minimal, Sparse };

/// The executions of block `to`; with `from` those of the edge between them.
struct CounterSite {
  Node from = kNoNode, to = 0;
  bool operator==(const CounterSite&) const = default;
};

struct CounterPlan {
  std::vector<CounterSite> sites;
  std::string all_because;  ///< not empty: Minimal was asked for, and every block is counted, and why
};

/// Whether the edge between two blocks can have a counter of its own.
using IsCountable = std::function<bool(Node from, Node to)>;

/// The sites that count lanes; group_sources.hpp has those of groups.
[[nodiscard]] CounterPlan plan_counters(const spirv::ControlFlow& flow, const std::vector<bool>& may_end,
                                        CounterSet set, const IsCountable& is_countable);

}  // namespace rayreplay::block_counts
