// Node orders: what all of them promise, small examples by hand, and slow twins.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "bvh/node_order.hpp"
#include "tests/support/random_tree.hpp"

namespace rayreplay::bvh {
namespace {

using Sequence = std::vector<std::uint32_t>;

Sequence sequence(const std::string& spec, const Tree& tree, bool siblings) {
  return NodeOrders::create(spec).model->order(tree, siblings);
}

TEST(NodeOrder, AllOfThemAreHere) {
  EXPECT_EQ(NodeOrders::names(),
            (std::vector<std::string>{"breadth-first", "depth-first", "treelet", "van-emde-boas"}));
}

class EveryNodeOrder : public testing::TestWithParam<std::string> {};

TEST_P(EveryNodeOrder, IsAPermutationThatStartsWithTheRoot) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const auto nodes = static_cast<std::uint32_t>(seed * seed / 2 + 1);
    const Tree tree =
        test::random_tree({.seed = seed, .nodes = nodes, .width = 1 + static_cast<std::uint32_t>(seed % 8)});
    for (const bool siblings : {false, true}) {
      Sequence order = sequence(GetParam(), tree, siblings);
      ASSERT_EQ(order.size(), nodes);
      EXPECT_EQ(order.front(), 0U);
      EXPECT_EQ(order, sequence(GetParam(), tree, siblings)) << "not the same twice";
      std::sort(order.begin(), order.end());
      Sequence all(nodes);
      std::iota(all.begin(), all.end(), 0U);
      ASSERT_EQ(order, all);
    }
  }
}

TEST_P(EveryNodeOrder, PutsSiblingsTogether) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const Tree tree =
        test::random_tree({.seed = seed, .nodes = 300, .width = 1 + static_cast<std::uint32_t>(seed % 8)});
    const Sequence order = sequence(GetParam(), tree, true);
    Sequence place(order.size());
    for (std::uint32_t i = 0; i < order.size(); ++i) {
      place[order[i]] = i;
    }
    for (const TreeNode& node : tree.nodes) {
      Sequence inner;
      for (std::uint32_t c = 0; c < node.child_count; ++c) {
        const TreeChild& child = tree.children[node.first_child + c];
        if (!child.is_leaf()) {
          inner.push_back(place[child.index]);
        }
      }
      for (std::size_t i = 1; i < inner.size(); ++i) {
        ASSERT_EQ(inner[i], inner[i - 1] + 1);
      }
    }
  }
}

TEST_P(EveryNodeOrder, TakesEmptyTreesAndChains) {
  EXPECT_TRUE(sequence(GetParam(), {}, false).empty());
  EXPECT_TRUE(sequence(GetParam(), {}, true).empty());
  const std::uint32_t depth = 200'000;  // deeper than any call stack
  Tree chain;
  const Box box{.low = {0, 0, 0}, .high = {1, 1, 1}};
  for (std::uint32_t node = 0; node < depth; ++node) {
    chain.nodes.push_back({node, 1});
    const bool last = node + 1 == depth;
    chain.children.push_back({box, last ? 0 : node + 1, last ? 1U : 0U});
  }
  chain.references = {0};
  chain.bounds = box;
  Sequence down(depth);
  std::iota(down.begin(), down.end(), 0U);
  EXPECT_EQ(sequence(GetParam(), chain, false), down);
  EXPECT_EQ(sequence(GetParam(), chain, true), down);
}

std::string name_of_order(const testing::TestParamInfo<std::string>& parameter) {
  std::string name = parameter.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(NodeOrders, EveryNodeOrder, testing::ValuesIn(NodeOrders::names()), name_of_order);

TEST(DepthFirst, IsPreorder) {
  const Tree tree = test::perfect_binary_tree(4);
  EXPECT_EQ(sequence("depth-first", tree, false), (Sequence{0, 1, 3, 7, 8, 4, 9, 10, 2, 5, 11, 12, 6, 13, 14}));
  EXPECT_EQ(sequence("depth-first", tree, true), (Sequence{0, 1, 2, 3, 4, 7, 8, 9, 10, 5, 6, 11, 12, 13, 14}));
}

TEST(BreadthFirst, GoesLevelByLevel) {
  const Tree tree = test::perfect_binary_tree(4);
  Sequence levels(15);
  std::iota(levels.begin(), levels.end(), 0U);
  EXPECT_EQ(sequence("breadth-first", tree, false), levels);
  EXPECT_EQ(sequence("breadth-first", tree, true), levels);
}

TEST(VanEmdeBoas, HalvesTheLevels) {
  EXPECT_EQ(sequence("van-emde-boas", test::perfect_binary_tree(4), false),
            (Sequence{0, 1, 2, 3, 7, 8, 4, 9, 10, 5, 11, 12, 6, 13, 14}));
  // Three levels: one on top, subtrees of two below.
  EXPECT_EQ(sequence("van-emde-boas", test::perfect_binary_tree(3), false), (Sequence{0, 1, 3, 4, 2, 5, 6}));
  // Five levels: two on top; the subtrees of three levels are cut into one and two.
  EXPECT_EQ(sequence("van-emde-boas", test::perfect_binary_tree(5), false), (Sequence{0, 1,  2,                   //
                                                                                      3, 7,  15, 16, 8,  17, 18,  //
                                                                                      4, 9,  19, 20, 10, 21, 22,  //
                                                                                      5, 11, 23, 24, 12, 25, 26,  //
                                                                                      6, 13, 27, 28, 14, 29, 30}));
  // Groups of siblings: {1 2} on top, below it {3 4} and {5 6}, below those four groups.
  EXPECT_EQ(sequence("van-emde-boas", test::perfect_binary_tree(4), true),
            (Sequence{0, 1, 2, 3, 4, 7, 8, 9, 10, 5, 6, 11, 12, 13, 14}));
}

/// By definition, over lists of nodes: the slow twin.
class SlowVanEmdeBoas {
 public:
  explicit SlowVanEmdeBoas(const Tree& tree) : tree_(tree) {}

  Sequence lay_out(std::uint32_t root, std::uint32_t most) const {
    const std::uint32_t levels = std::min(most, height(root));
    if (levels == 1) {
      return {root};
    }
    Sequence result = lay_out(root, levels / 2);
    for (const std::uint32_t next : at_depth(root, levels / 2)) {
      const Sequence part = lay_out(next, most - levels / 2);
      result.insert(result.end(), part.begin(), part.end());
    }
    return result;
  }
  std::uint32_t height(std::uint32_t node) const {
    std::uint32_t most = 0;
    for (const std::uint32_t child : inner(node)) {
      most = std::max(most, height(child));
    }
    return most + 1;
  }

 private:
  Sequence inner(std::uint32_t node) const {
    Sequence result;
    for (std::uint32_t c = 0; c < tree_.nodes[node].child_count; ++c) {
      const TreeChild& child = tree_.children[tree_.nodes[node].first_child + c];
      if (!child.is_leaf()) {
        result.push_back(child.index);
      }
    }
    return result;
  }
  Sequence at_depth(std::uint32_t root, std::uint32_t depth) const {
    if (depth == 0) {
      return {root};
    }
    Sequence result;
    for (const std::uint32_t child : inner(root)) {
      const Sequence part = at_depth(child, depth - 1);
      result.insert(result.end(), part.begin(), part.end());
    }
    return result;
  }
  const Tree& tree_;
};

TEST(VanEmdeBoas, IsItsSlowTwin) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const Tree tree =
        test::random_tree({.seed = seed, .nodes = 200, .width = 1 + static_cast<std::uint32_t>(seed % 8)});
    const SlowVanEmdeBoas slow(tree);
    EXPECT_EQ(sequence("van-emde-boas", tree, false), slow.lay_out(0, slow.height(0))) << seed;
  }
}

/// The root with children 1 and 2, of which 2 is larger; 1 with 3, 2 with 4 and 5, 5 larger than 4 and 1; 5 with 6.
Tree uneven_tree() {
  const auto box = [](float size) { return Box{.low = {0, 0, 0}, .high = {size, size, size}}; };
  return {.nodes = {{0, 2}, {2, 1}, {3, 2}, {5, 1}, {6, 1}, {7, 1}, {8, 1}},
          .children = {{box(3), 1, 0},
                       {box(9), 2, 0},
                       {box(1), 3, 0},
                       {box(2), 4, 0},
                       {box(8), 5, 0},
                       {box(1), 0, 1},
                       {box(2), 1, 1},
                       {box(7), 6, 0},
                       {box(7), 2, 1}},
          .references = {10, 11, 12},
          .bounds = box(9)};
}

TEST(Treelet, GrowsByTheLargestSurface) {
  EXPECT_EQ(sequence("treelet:nodes=100", uneven_tree(), false), (Sequence{0, 2, 5, 6, 1, 4, 3}));
  // {0 2 5}, then the treelets of 6, 1 (with 3) and 4: largest first.
  EXPECT_EQ(sequence("treelet:nodes=3", uneven_tree(), false), (Sequence{0, 2, 5, 6, 1, 3, 4}));
  EXPECT_EQ(sequence("treelet:nodes=1", uneven_tree(), false), (Sequence{0, 2, 1, 5, 4, 3, 6}));
  // Groups {1 2}, {3}, {4 5}, {6}.
  EXPECT_EQ(sequence("treelet:nodes=100", uneven_tree(), true), (Sequence{0, 1, 2, 4, 5, 6, 3}));
  EXPECT_EQ(sequence("treelet:nodes=2", uneven_tree(), true), (Sequence{0, 1, 2, 4, 5, 3, 6}));
}

TEST(Treelet, OnTiesTheFirstComesFirst) {
  EXPECT_EQ(sequence("treelet:nodes=7", test::perfect_binary_tree(4), false),
            (Sequence{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14}));
}

/// All candidates looked through at every step: the slow twin.
Sequence slow_treelets(const Tree& tree, std::size_t limit) {
  std::vector<Box> boxes(tree.nodes.size(), tree.bounds);
  for (const TreeChild& child : tree.children) {
    if (!child.is_leaf()) {
      boxes[child.index] = child.box;
    }
  }
  Sequence result;
  Sequence waiting = {0};
  for (std::size_t w = 0; w < waiting.size(); ++w) {
    Sequence below = {waiting[w]};  // in the order of arrival
    std::size_t nodes = 0;
    const auto largest = [&] {
      return std::max_element(below.begin(), below.end(), [&](std::uint32_t a, std::uint32_t b) {
        return half_area(boxes[a]) < half_area(boxes[b]);
      });
    };
    for (; !below.empty() && nodes < limit; ++nodes) {
      const auto next = largest();
      const std::uint32_t node = *next;
      below.erase(next);
      result.push_back(node);
      for (std::uint32_t c = 0; c < tree.nodes[node].child_count; ++c) {
        const TreeChild& child = tree.children[tree.nodes[node].first_child + c];
        if (!child.is_leaf()) {
          below.push_back(child.index);
        }
      }
    }
    while (!below.empty()) {
      const auto next = largest();
      waiting.push_back(*next);
      below.erase(next);
    }
  }
  return result;
}

TEST(Treelet, IsItsSlowTwin) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const Tree tree =
        test::random_tree({.seed = seed, .nodes = 300, .width = 1 + static_cast<std::uint32_t>(seed % 8)});
    const std::size_t limit = 1 + seed % 20;
    EXPECT_EQ(sequence("treelet:nodes=" + std::to_string(limit), tree, false), slow_treelets(tree, limit)) << seed;
  }
}

}  // namespace
}  // namespace rayreplay::bvh
