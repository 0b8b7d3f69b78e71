#include "capture/block_counts/counter_plan.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace rayreplay::block_counts {
namespace {

/// Connected places (union and find, with path halving).
class Connected {
 public:
  explicit Connected(std::size_t places) : parent_(places) {
    std::iota(parent_.begin(), parent_.end(), 0U);
  }
  /// False if they were connected already.
  bool connect(std::uint32_t a, std::uint32_t b) {
    a = root(a);
    b = root(b);
    parent_[std::max(a, b)] = std::min(a, b);
    return a != b;
  }

 private:
  std::uint32_t root(std::uint32_t place) {
    while (parent_[place] != place) {
      parent_[place] = parent_[parent_[place]];
      place = parent_[place];
    }
    return place;
  }
  std::vector<std::uint32_t> parent_;
};

/// An arc in the order of Kruskal's algorithm.
struct Candidate {
  std::size_t arc = 0;
  bool countable = false;
  std::uint32_t depth = 0;
  bool is_edge = false;  ///< its counter needs code of its own between two blocks

  [[nodiscard]] bool before(const Candidate& other) const {
    if (countable != other.countable) {
      return !countable;
    }
    if (depth != other.depth) {
      return depth > other.depth;
    }
    return is_edge != other.is_edge ? is_edge : arc < other.arc;
  }
};

CounterPlan every_block(const spirv::ControlFlow& flow) {
  CounterPlan plan;
  for (Node block = 0; block < flow.graph.size(); ++block) {
    if (flow.reached(block)) {
      plan.sites.push_back({kNoNode, block});
    }
  }
  return plan;
}

/// By block: the arcs that lead to it.
std::vector<std::uint32_t> ways_in(const FlowNetwork& network, std::size_t blocks) {
  std::vector<std::uint32_t> ways(blocks, 0);
  for (const Arc& arc : network.arcs) {
    if (arc.kind == Arc::Kind::Edge || arc.kind == Arc::Kind::Call) {
      ++ways[arc.to];
    }
  }
  return ways;
}

}  // namespace

CounterPlan plan_counters(const spirv::ControlFlow& flow, const std::vector<bool>& may_end, CounterSet set,
                          const IsCountable& is_countable) {
  if (set == CounterSet::All) {
    return every_block(flow);
  }
  const FlowNetwork network(flow, may_end);
  const std::vector<std::uint32_t> ways = ways_in(network, flow.graph.size());
  // An edge that is all of a block's flow needs no counter of its own: the block has one.
  const auto is_alone = [&](const Arc& arc) {
    return ways[arc.to] == 1 || (flow.graph.successors[arc.from].size() == 1 && !may_end[arc.from]);
  };
  std::vector<Candidate> candidates;
  for (std::size_t a = 0; a < network.arcs.size(); ++a) {
    const Arc& arc = network.arcs[a];
    Candidate candidate;
    candidate.arc = a;
    candidate.is_edge = arc.kind == Arc::Kind::Edge;
    candidate.countable = arc.kind == Arc::Kind::Block || (set == CounterSet::Minimal && candidate.is_edge &&
                                                           !is_alone(arc) && is_countable(arc.from, arc.to));
    if (arc.from != kNoNode && arc.to != kNoNode) {
      candidate.depth = std::min(flow.loops.depth(arc.from), flow.loops.depth(arc.to));
    }
    candidates.push_back(candidate);
  }
  std::sort(candidates.begin(), candidates.end(), [](const auto& a, const auto& b) { return a.before(b); });
  Connected tree(network.places);
  CounterPlan plan;
  for (const Candidate& candidate : candidates) {
    const Arc& arc = network.arcs[candidate.arc];
    if (tree.connect(arc.from_place, arc.to_place)) {
      continue;
    }
    if (!candidate.countable) {
      plan = every_block(flow);
      if (set == CounterSet::Minimal) {
        plan.all_because = "edges that cannot be counted form a circuit";
      }
      return plan;
    }
    plan.sites.push_back({candidate.is_edge ? arc.from : kNoNode, arc.to});
  }
  std::sort(plan.sites.begin(), plan.sites.end(),
            [](const auto& a, const auto& b) { return std::pair(a.to, a.from) < std::pair(b.to, b.from); });
  return plan;
}

}  // namespace rayreplay::block_counts
