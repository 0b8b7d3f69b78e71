// Dominators, post-dominators and loops against their definitions, by removing nodes from random graphs; and graphs of
// functions whose shape is known.
#include "capture/spirv/control_flow.hpp"

#include <set>

#include <gtest/gtest.h>

#include "tests/instrument/support/corpus.hpp"
#include "tests/spirv/random_graph.hpp"

namespace rayreplay {
namespace {

using spirv::Graph;
using spirv::kNoNode;
using spirv::Node;

constexpr int kGraphs = 3000;

/// Every a that dominates b: b cannot be reached without it.
std::vector<std::vector<bool>> slow_dominators(const Graph& graph, Node root) {
  const std::vector<bool> reached = test::reach(graph, root, kNoNode);
  std::vector<std::vector<bool>> dominates(graph.size());
  for (Node a = 0; a < graph.size(); ++a) {
    const std::vector<bool> without = test::reach(graph, root, a);
    for (Node b = 0; b < graph.size(); ++b) {
      dominates[a].push_back(reached[a] && reached[b] && !without[b]);
    }
  }
  return dominates;
}

/// The strict dominator that all other strict dominators of the node dominate.
Node slow_immediate(const std::vector<std::vector<bool>>& dominates, Node node) {
  for (Node a = 0; a < dominates.size(); ++a) {
    bool nearest = a != node && dominates[a][node];
    for (Node other = 0; nearest && other < dominates.size(); ++other) {
      nearest = other == node || !dominates[other][node] || dominates[other][a];
    }
    if (nearest) {
      return a;
    }
  }
  return kNoNode;
}

TEST(Dominators, AreThoseByRemoval) {
  std::mt19937 random(1);
  for (int n = 0; n < kGraphs; ++n) {
    const Graph graph = test::random_graph(random, 14);
    const auto slow = slow_dominators(graph, 0);
    const spirv::DominatorTree tree = spirv::dominators(graph, 0);
    for (Node a = 0; a < graph.size(); ++a) {
      EXPECT_EQ(tree.parent[a], slow_immediate(slow, a)) << "graph " << n << ", node " << a;
      for (Node b = 0; b < graph.size(); ++b) {
        EXPECT_EQ(tree.dominates(a, b), slow[a][b]) << "graph " << n << ", nodes " << a << " " << b;
      }
    }
  }
}

TEST(PostDominators, AreThoseByRemoval) {
  std::mt19937 random(2);
  for (int n = 0; n < kGraphs; ++n) {
    const Graph graph = test::random_graph(random, 14);
    const spirv::ControlFlow flow = spirv::control_flow(graph);
    const auto is_exit = [&](Node v) { return graph.successors[v].empty(); };
    const auto reaches_exit = [&](Node from, Node without) {
      const std::vector<bool> seen = test::reach(graph, from, without);
      for (Node v = 0; v < graph.size(); ++v) {
        if (seen[v] && is_exit(v)) {
          return true;
        }
      }
      return false;
    };
    std::vector<std::vector<bool>> dominates(graph.size(), std::vector<bool>(graph.size(), false));
    for (Node a = 0; a < graph.size(); ++a) {
      for (Node b = 0; b < graph.size(); ++b) {
        dominates[a][b] = reaches_exit(a, kNoNode) && reaches_exit(b, kNoNode) && !reaches_exit(b, a);
      }
    }
    for (Node v = 0; v < graph.size(); ++v) {
      EXPECT_EQ(flow.post_dominator[v], slow_immediate(dominates, v)) << "graph " << n << ", node " << v;
    }
  }
}

/// Nodes of the natural loop of a header: reached, and on a path to a latch that does not pass the header.
std::set<Node> slow_loop(const Graph& graph, const std::vector<std::vector<bool>>& dominates, Node header) {
  std::set<Node> nodes;
  for (const Node latch : graph.predecessors[header]) {
    if (!dominates[header][latch]) {
      continue;
    }
    nodes.insert(header);
    for (Node v = 0; v < graph.size(); ++v) {
      if (dominates[0][v] && test::reach(graph, v, header)[latch]) {
        nodes.insert(v);
      }
    }
  }
  return nodes;
}

/// Reducible: no cycle is left without the back edges.
bool slow_irreducible(const Graph& graph, const std::vector<std::vector<bool>>& dominates) {
  Graph forward(graph.size());
  for (Node v = 0; v < graph.size(); ++v) {
    for (const Node to : graph.successors[v]) {
      if (dominates[0][v] && !dominates[to][v]) {
        forward.connect(v, to);
      }
    }
  }
  for (Node v = 0; v < graph.size(); ++v) {
    for (const Node to : forward.successors[v]) {
      if (test::reach(forward, to, kNoNode)[v]) {
        return true;
      }
    }
  }
  return false;
}

TEST(Loops, AreThoseByDefinition) {
  std::mt19937 random(3);
  std::size_t found = 0, nested = 0, irreducible = 0;
  for (int n = 0; n < kGraphs; ++n) {
    const Graph graph = test::random_graph(random, 12);
    const auto dominates = slow_dominators(graph, 0);
    const spirv::Loops loops = spirv::control_flow(graph).loops;
    EXPECT_EQ(loops.irreducible, slow_irreducible(graph, dominates)) << "graph " << n;
    irreducible += loops.irreducible ? 1 : 0;
    std::set<Node> headers;
    for (std::uint32_t l = 0; l < loops.all.size(); ++l) {
      const Node header = loops.all[l].header;
      EXPECT_TRUE(headers.insert(header).second);
      const std::set<Node> nodes = slow_loop(graph, dominates, header);
      std::uint32_t depth = 0;
      for (Node v = 0; v < graph.size(); ++v) {
        EXPECT_EQ(loops.holds(l, v), nodes.contains(v)) << "graph " << n << ", loop " << header << ", node " << v;
        depth += slow_loop(graph, dominates, v).contains(header) ? 1U : 0U;
      }
      EXPECT_EQ(loops.all[l].depth, depth) << "graph " << n << ", loop " << header;
      nested += depth > 1 ? 1 : 0;
    }
    for (Node v = 0; v < graph.size(); ++v) {
      EXPECT_EQ(headers.contains(v), !slow_loop(graph, dominates, v).empty()) << "graph " << n << ", node " << v;
    }
    found += headers.size();
  }
  EXPECT_GT(found, 1000U);
  EXPECT_GT(nested, 100U);
  EXPECT_GT(irreducible, 100U);
}

TEST(DepthFirst, OrdersEachNodeAfterItsPredecessorsWithoutCycles) {
  std::mt19937 random(4);
  for (int n = 0; n < kGraphs; ++n) {
    const Graph graph = test::random_graph(random, 14);
    const spirv::ControlFlow flow = spirv::control_flow(graph);
    const std::vector<bool> reached = test::reach(graph, 0, kNoNode);
    std::vector<std::size_t> place(graph.size(), graph.size());
    for (std::size_t i = 0; i < flow.order.size(); ++i) {
      place[flow.order[i]] = i;
    }
    for (Node v = 0; v < graph.size(); ++v) {
      EXPECT_EQ(place[v] < graph.size(), reached[v]);
      EXPECT_EQ(flow.reached(v), reached[v]);
      for (const Node to : graph.successors[v]) {
        if (reached[v] && !test::reach(graph, to, kNoNode)[v]) {
          EXPECT_LT(place[v], place[to]);
        }
      }
    }
  }
}

TEST(ControlFlow, TakesLongChainsAndDeepNests) {
  constexpr Node kNodes = 300'000;
  Graph chain(kNodes);
  for (Node v = 0; v + 1 < kNodes; ++v) {
    chain.connect(v, v + 1);
  }
  EXPECT_EQ(spirv::control_flow(chain).post_dominator[0], 1U);
  // A ladder: every node of the first half has an edge back from its mirror image.
  Graph nest = chain;
  for (Node v = 0; v < kNodes / 2 - 1; ++v) {
    nest.connect(kNodes - 2 - v, v);
  }
  const spirv::ControlFlow flow = spirv::control_flow(nest);
  EXPECT_EQ(flow.loops.all.size(), kNodes / 2 - 1);
  EXPECT_EQ(flow.loops.all.back().depth, kNodes / 2 - 1);
}

TEST(ControlFlow, OfEveryFunctionOfTheCorpus) {
  std::size_t loops = 0, switches = 0;
  for (const test::CorpusModule& given : test::corpus()) {
    std::string reason;
    const auto module = spirv::parse(given.words, reason);
    ASSERT_TRUE(module) << reason;
    const spirv::WideSelectors selectors(*module);
    for (const spirv::Function& function : module->functions) {
      const auto flow = spirv::control_flow(function, selectors, reason);
      ASSERT_TRUE(flow) << given.name << ": " << reason;
      loops += flow->loops.all.size();
      for (Node b = 0; b < flow->blocks.size(); ++b) {
        const spirv::Block& block = flow->blocks[b];
        switches += block.ending == spirv::Ending::Switch ? 1 : 0;
        EXPECT_TRUE(function.body[block.first].is(spv::Op::OpLabel));
        EXPECT_EQ(spirv::ending_of(function.body[block.last].op()), block.ending);
        const bool leaves = block.ending == spirv::Ending::Return || block.ending == spirv::Ending::Abort ||
                            block.ending == spirv::Ending::Unreachable;
        EXPECT_EQ(flow->graph.successors[b].empty(), leaves);
      }
    }
  }
  EXPECT_GT(loops, 0U);
}

/// Instructions of one function as words; labels are ids.
struct Text {
  spirv::Module module;
  spirv::Function function;

  Text() {
    function.body.emplace_back(spv::Op::OpFunction, std::initializer_list<spirv::Word>{1, 2, 0, 3});
  }
  Text& add(spv::Op op, std::initializer_list<spirv::Word> operands) {
    function.body.emplace_back(op, operands);
    return *this;
  }
  std::optional<spirv::ControlFlow> flow(std::string& reason) {
    return spirv::control_flow(function, spirv::WideSelectors(module), reason);
  }
};

TEST(ControlFlow, ReadsSwitchesOfWideSelectors) {
  using spv::Op;
  std::string reason;
  for (const spirv::Word bits : {32U, 64U}) {
    Text text;
    text.module.globals.emplace_back(Op::OpTypeInt, std::initializer_list<spirv::Word>{5, bits, 0});
    text.module.globals.emplace_back(Op::OpConstant, std::initializer_list<spirv::Word>{5, 6, 0, 0});
    text.add(Op::OpLabel, {10});
    if (bits == 32) {
      text.add(Op::OpSwitch, {6, 20, 1, 21, 2, 22});
    } else {
      text.add(Op::OpSwitch, {6, 20, 1, 0, 21, 2, 0, 22});
    }
    for (const spirv::Word label : {20U, 21U, 22U}) {
      text.add(Op::OpLabel, {label}).add(Op::OpReturn, {});
    }
    text.add(Op::OpFunctionEnd, {});
    const auto flow = text.flow(reason);
    ASSERT_TRUE(flow) << reason;
    EXPECT_EQ(flow->graph.successors[0], (std::vector<Node>{1, 2, 3}));
  }
}

TEST(ControlFlow, SaysWhatIsWrong) {
  using spv::Op;
  const auto why = [](Text text) {
    std::string reason;
    return text.flow(reason) ? "" : reason;
  };
  EXPECT_EQ(why(Text().add(Op::OpFunctionEnd, {})), "");
  EXPECT_EQ(why(Text().add(Op::OpLabel, {10}).add(Op::OpReturn, {}).add(Op::OpFunctionEnd, {})), "");
  EXPECT_EQ(why(Text().add(Op::OpLabel, {10}).add(Op::OpReturn, {})), "function 2 does not end");
  EXPECT_EQ(why(Text().add(Op::OpLabel, {10}).add(Op::OpFunctionEnd, {})), "function 2 does not end");
  EXPECT_EQ(why(Text().add(Op::OpLabel, {10}).add(Op::OpLabel, {11}).add(Op::OpReturn, {}).add(Op::OpFunctionEnd, {})),
            "a block that does not end before instruction 2 of function 2");
  EXPECT_EQ(why(Text().add(Op::OpReturn, {}).add(Op::OpFunctionEnd, {})), "instruction 1 of function 2 is in no block");
  EXPECT_EQ(why(Text().add(Op::OpLabel, {10}).add(Op::OpBranch, {11}).add(Op::OpFunctionEnd, {})),
            "block 10 branches to 11, which is no block of its function");
  EXPECT_EQ(why(Text()
                    .add(Op::OpLabel, {10})
                    .add(Op::OpReturn, {})
                    .add(Op::OpLabel, {10})
                    .add(Op::OpReturn, {})
                    .add(Op::OpFunctionEnd, {})),
            "two blocks with label 10");
}

}  // namespace
}  // namespace rayreplay
