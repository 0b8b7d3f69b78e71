// Counts derived from a plan's sites against the counts of walks through random graphs.
#include <map>
#include <set>

#include <gtest/gtest.h>

#include "capture/block_counts/derived_counts.hpp"
#include "tests/spirv/random_graph.hpp"

namespace rayreplay {
namespace {

using block_counts::CounterPlan;
using block_counts::CounterSet;
using block_counts::CounterSite;
using block_counts::kNoNode;
using block_counts::Node;

constexpr int kGraphs = 2000;

/// A graph, what ends in it, which edges can be counted, and how often walks passed its blocks and edges.
struct Walked {
  spirv::ControlFlow flow;
  std::vector<bool> may_end;
  std::map<std::pair<Node, Node>, bool> countable;
  std::map<std::pair<Node, Node>, std::uint64_t> edges;
  std::vector<std::uint64_t> blocks;

  [[nodiscard]] std::vector<std::uint64_t> counts_of(const std::vector<CounterSite>& sites) const {
    std::vector<std::uint64_t> counts;
    for (const CounterSite& site : sites) {
      const auto edge = edges.find({site.from, site.to});
      counts.push_back(site.from == kNoNode ? blocks[site.to] : edge == edges.end() ? 0 : edge->second);
    }
    return counts;
  }
};

/// Whether a block that ends invocations is reached from every block.
bool ends(const spirv::Graph& graph, const std::vector<bool>& may_end, Node from) {
  const std::vector<bool> reached = test::reach(graph, from, kNoNode);
  for (Node b = 0; b < graph.size(); ++b) {
    if (reached[b] && (may_end[b] || graph.successors[b].empty())) {
      return true;
    }
  }
  return false;
}

Walked walk(std::mt19937& random) {
  Walked walked;
  walked.flow = spirv::control_flow(test::random_graph(random, 14));
  const spirv::Graph& graph = walked.flow.graph;
  for (Node b = 0; b < graph.size(); ++b) {
    walked.may_end.push_back(random() % 6 == 0);
    for (const Node to : graph.successors[b]) {
      walked.countable[{b, to}] = random() % 3 != 0;
    }
  }
  for (Node b = 0; b < graph.size(); ++b) {
    walked.may_end[b] = walked.may_end[b] || !ends(graph, walked.may_end, b);
  }
  walked.blocks.assign(graph.size(), 0);
  for (int w = 0; w < 20; ++w) {
    for (Node at = 0;;) {
      ++walked.blocks[at];
      const std::vector<Node>& next = graph.successors[at];
      if (next.empty() || (walked.may_end[at] && random() % 3 == 0)) {
        break;
      }
      const Node to = next[random() % next.size()];
      ++walked.edges[{at, to}];
      at = to;
    }
  }
  return walked;
}

CounterPlan plan_of(const Walked& walked, CounterSet set) {
  return block_counts::plan_counters(walked.flow, walked.may_end, set, [&](Node from, Node to) {
    return walked.countable.at({from, to});
  });
}

TEST(Minimal, DerivesTheCountsOfRandomWalks) {
  std::mt19937 random(1);
  int minimal = 0;
  for (int n = 0; n < kGraphs; ++n) {
    const Walked walked = walk(random);
    const CounterPlan plan = plan_of(walked, CounterSet::Minimal);
    const auto derived =
        block_counts::derive_counts(walked.flow, walked.may_end, plan.sites, walked.counts_of(plan.sites));
    ASSERT_EQ(derived.fault, "") << "graph " << n;
    EXPECT_EQ(derived.blocks, walked.blocks) << "graph " << n;
    EXPECT_EQ(derived.blocks[0] >= 20, true);
    if (plan.all_because.empty()) {
      ++minimal;
      // The dimension of the circuits: arcs less places, and one.
      const block_counts::FlowNetwork network(walked.flow, walked.may_end);
      std::set<std::uint32_t> places;
      for (const auto& arc : network.arcs) {
        places.insert({arc.from_place, arc.to_place});
      }
      EXPECT_EQ(plan.sites.size(), network.arcs.size() - places.size() + 1) << "graph " << n;
    }
  }
  EXPECT_GT(minimal, kGraphs / 2);
}

TEST(All, CountsEveryReachedBlock) {
  std::mt19937 random(2);
  for (int n = 0; n < kGraphs; ++n) {
    const Walked walked = walk(random);
    const CounterPlan plan = plan_of(walked, CounterSet::All);
    const auto derived =
        block_counts::derive_counts(walked.flow, walked.may_end, plan.sites, walked.counts_of(plan.sites));
    ASSERT_EQ(derived.fault, "") << "graph " << n;
    EXPECT_EQ(derived.blocks, walked.blocks) << "graph " << n;
  }
}

/// A wrong count is a contradiction, or the counts differ from the walks' own: never a crash.
TEST(Damage, IsNamedWhereItContradicts) {
  std::mt19937 random(3);
  int named = 0;
  for (int n = 0; n < kGraphs; ++n) {
    const Walked walked = walk(random);
    const CounterPlan plan = plan_of(walked, CounterSet::All);
    std::vector<std::uint64_t> counts = walked.counts_of(plan.sites);
    counts[random() % counts.size()] += random() % 2 == 0 ? 1 : ~std::uint64_t{0} >> 1;
    const auto derived = block_counts::derive_counts(walked.flow, walked.may_end, plan.sites, counts);
    named += derived.fault.empty() ? 0 : 1;
  }
  EXPECT_GT(named, kGraphs / 5);
}

spirv::ControlFlow chain() {
  spirv::Graph graph(3);
  graph.connect(0, 1);
  graph.connect(1, 2);
  return spirv::control_flow(std::move(graph));
}

TEST(Damage, SaysWhatIsWrong) {
  const std::vector<bool> none(3, false);
  const auto fault = [&](const std::vector<CounterSite>& sites, const std::vector<std::uint64_t>& counts) {
    return block_counts::derive_counts(chain(), none, sites, counts).fault;
  };
  EXPECT_EQ(fault({{kNoNode, 1}}, {7}), "");
  EXPECT_NE(fault({{kNoNode, 0}, {kNoNode, 2}}, {7, 8}).find("not as many invocations come in as go out"),
            std::string::npos);
  EXPECT_EQ(fault({{kNoNode, 9}}, {7}),
            "block 9 is counted, which the function does not have, or has a counter already");
  EXPECT_EQ(fault({{2, 0}}, {7}),
            "the edge from block 2 to 0 is counted, which the function does not have, or has a counter already");
  EXPECT_EQ(fault({{kNoNode, 1}, {kNoNode, 1}}, {7, 7}),
            "block 1 is counted, which the function does not have, or has a counter already");
  EXPECT_EQ(fault({}, {}), "the counters do not determine block 0");
}

TEST(Damage, NamesANegativeCount) {
  spirv::Graph graph(4);
  graph.connect(0, 1);
  graph.connect(0, 2);
  graph.connect(1, 3);
  graph.connect(2, 3);
  const auto flow = spirv::control_flow(std::move(graph));
  const std::vector<CounterSite> sites = {{kNoNode, 0}, {kNoNode, 1}};
  const std::vector<std::uint64_t> more = {5, 6};
  EXPECT_EQ(block_counts::derive_counts(flow, std::vector<bool>(4, false), sites, more).fault,
            "the edge from block 0 to 2 would have a negative count");
  const std::vector<std::uint64_t> fewer = {6, 5};
  EXPECT_EQ(block_counts::derive_counts(flow, std::vector<bool>(4, false), sites, fewer).blocks,
            (std::vector<std::uint64_t>{6, 5, 1, 6}));
}

/// In a loop the tree takes the arcs of the body: its counters are outside.
TEST(Minimal, CountsOutsideLoopsWhereItCan) {
  spirv::Graph graph(4);  // 0 → 1 ⇄ 2, 1 → 3
  graph.connect(0, 1);
  graph.connect(1, 2);
  graph.connect(1, 3);
  graph.connect(2, 1);
  const auto flow = spirv::control_flow(std::move(graph));
  const CounterPlan plan = block_counts::plan_counters(flow, std::vector<bool>(4, false), CounterSet::Minimal,
                                                       [](Node, Node) { return false; });
  ASSERT_EQ(plan.sites.size(), 2U);
  EXPECT_TRUE(plan.sites[0] == (CounterSite{kNoNode, 0}) || plan.sites[1] == (CounterSite{kNoNode, 3}));
}

}  // namespace
}  // namespace rayreplay
