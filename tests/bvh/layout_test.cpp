// Every layout gives back the tree that it encoded, in every node order, with boxes that contain the tree's.
#include <gtest/gtest.h>
#include <oneapi/tbb/global_control.h>

#include <cstring>
#include <set>

#include "base/error.hpp"
#include "bvh/layout.hpp"
#include "bvh/layouts/half_4.hpp"
#include "bvh/layouts/placement.hpp"
#include "tests/support/random_tree.hpp"

namespace rayreplay::bvh {
namespace {

using test::BoxKind;

std::unique_ptr<Layout> layout(const std::string& name) {
  return Layouts::create(name).model;
}
std::unique_ptr<NodeOrder> order(const std::string& name) {
  return NodeOrders::create(name).model;
}

/// Walks tree and records side by side.
class Comparison {
 public:
  Comparison(const Tree& tree, const Layout& layout, const Level& level)
      : tree_(tree), layout_(layout), traits_(layout.traits()), level_(level) {}

  void run() {
    ASSERT_EQ(level_.node_bytes, traits_.node_bytes);
    ASSERT_EQ(level_.nodes.size(), std::size_t{level_.node_count} * level_.node_bytes);
    ASSERT_EQ(reinterpret_cast<std::uintptr_t>(level_.nodes.data()) % 64, 0U);
    EXPECT_EQ(level_.bounds, tree_.bounds);
    visit(0, 0);
    EXPECT_EQ(records_.size(), level_.node_count);
  }

 private:
  void visit(std::uint32_t node, std::uint32_t record) {
    ASSERT_LT(record, level_.node_count);
    ASSERT_TRUE(records_.insert(record).second) << "record " << record << " has two parents";
    std::array<ChildView, kMaxWidth> views;
    const std::size_t count = layout_.decode(level_, record, views);
    const TreeNode& source = tree_.nodes[node];
    ASSERT_EQ(count, source.child_count);
    std::uint32_t previous = kNoBlock;
    for (std::size_t slot = 0; slot < count; ++slot) {
      const TreeChild& child = tree_.children[source.first_child + slot];
      const ChildView& view = views[slot];
      if (traits_.quantised) {
        ASSERT_TRUE(view.box.contains(child.box)) << "node " << node << " slot " << slot;
      } else {
        ASSERT_EQ(std::memcmp(&view.box, &child.box, sizeof(Box)), 0);
      }
      ASSERT_EQ(view.count, child.count);
      if (child.is_leaf()) {
        compare_leaf(view, child);
        continue;
      }
      EXPECT_EQ(view.block, kNoBlock);
      if (traits_.siblings_together && previous != kNoBlock) {
        EXPECT_GT(view.index, previous);
      }
      previous = view.index;
      ASSERT_NO_FATAL_FAILURE(visit(child.index, view.index));
    }
  }

  void compare_leaf(const ChildView& view, const TreeChild& child) {
    ASSERT_LE(std::size_t{view.index} + view.count, level_.references.size());
    for (std::uint32_t i = 0; i < child.count; ++i) {
      EXPECT_EQ(level_.references[view.index + i], tree_.references[child.index + i]);
    }
    if (view.block != kNoBlock) {
      EXPECT_LT(view.block, level_.node_count);
      EXPECT_TRUE(records_.insert(view.block).second) << "block " << view.block << " has two parents";
    }
  }

  const Tree& tree_;
  const Layout& layout_;
  LayoutTraits traits_;
  const Level& level_;
  std::set<std::uint32_t> records_;
};

class EveryLayout : public testing::TestWithParam<std::string> {
 protected:
  EveryLayout() : layout_(layout(GetParam())), traits_(layout_->traits()) {}

  void compare(const Tree& tree, const std::string& order_name = "depth-first") {
    const Level level = layout_->encode(tree, *order(order_name));
    Comparison(tree, *layout_, level).run();
  }

  std::unique_ptr<Layout> layout_;
  LayoutTraits traits_;
};

TEST_P(EveryLayout, GivesBackTheTreeInEveryOrder) {
  for (const std::string& name : NodeOrders::names()) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      SCOPED_TRACE(name + " seed " + std::to_string(seed));
      const auto nodes = static_cast<std::uint32_t>(1 + seed * seed);
      compare(test::random_tree({.seed = seed, .nodes = nodes, .width = traits_.width, .max_leaf = traits_.max_leaf}),
              name);
      if (HasFatalFailure()) {
        return;
      }
    }
  }
}

TEST_P(EveryLayout, BoxesContainTheTreesWhateverTheirSize) {
  for (const BoxKind kind : test::kBoxKinds) {
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
      SCOPED_TRACE(test::to_string(kind) + " seed " + std::to_string(seed));
      compare(test::random_tree(
          {.seed = seed, .nodes = 40, .width = traits_.width, .max_leaf = traits_.max_leaf, .boxes = kind}));
      if (HasFatalFailure()) {
        return;
      }
    }
  }
}

TEST_P(EveryLayout, NarrowTreesAreFine) {
  for (std::uint32_t width = 1; width <= traits_.width; ++width) {
    compare(test::random_tree({.seed = width, .nodes = 100, .width = width, .max_leaf = 1}));
  }
}

TEST_P(EveryLayout, OneLeafAloneIsATree) {
  const Box point{.low = {5, -7, 1e-40F}, .high = {5, -7, 1e-40F}};
  const Tree tree{{{0, 1}}, {{point, 0, 1}}, {42}, point};
  compare(tree);
  const Level level = layout_->encode(tree, *order("depth-first"));
  std::array<ChildView, kMaxWidth> views;
  ASSERT_EQ(layout_->decode(level, 0, views), 1U);
  if (GetParam() != "half-4") {  // 1e-40 is no half
    EXPECT_EQ(views[0].box, point) << "a box without extent stays tight";
  }
}

TEST_P(EveryLayout, NothingIsAnEmptyLevel) {
  const Level level = layout_->encode({}, *order("depth-first"));
  EXPECT_TRUE(level.empty());
  EXPECT_TRUE(level.nodes.empty());
  EXPECT_TRUE(level.references.empty());
}

TEST_P(EveryLayout, QuantisedBoxesAreHardlyLarger) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Tree tree =
        test::random_tree({.seed = seed, .nodes = 1, .width = traits_.width, .max_leaf = traits_.max_leaf});
    const Level level = layout_->encode(tree, *order("depth-first"));
    std::array<ChildView, kMaxWidth> views;
    const std::size_t count = layout_->decode(level, 0, views);
    for (std::size_t slot = 0; slot < count; ++slot) {
      for (unsigned axis = 0; axis < 3; ++axis) {
        // 1/127 of the node at most for 8 bits that span up to twice the extent; 2^-9 of a coordinate below 4 for
        // halves.
        const float extent = tree.bounds.high[axis] - tree.bounds.low[axis];
        const float allowed = !traits_.quantised ? 0 : std::max(extent / 127, GetParam() == "half-4" ? 0x1p-9F : 0.0F);
        EXPECT_LE(tree.children[slot].box.low[axis] - views[slot].box.low[axis], allowed);
        EXPECT_LE(views[slot].box.high[axis] - tree.children[slot].box.high[axis], allowed);
      }
    }
  }
}

TEST_P(EveryLayout, SameBytesWithOneWorkerAsWithMany) {
  const Tree tree = test::random_tree({.seed = 3, .nodes = 9000, .width = traits_.width, .max_leaf = traits_.max_leaf});
  const Level many = layout_->encode(tree, *order("treelet"));
  const tbb::global_control one(tbb::global_control::max_allowed_parallelism, 1);
  const Level single = layout_->encode(tree, *order("treelet"));
  EXPECT_EQ(many.nodes, single.nodes);
  EXPECT_EQ(many.references, single.references);
}

ErrorKind kind_of_error(const std::function<void()>& act) {
  try {
    act();
  } catch (const Error& error) {
    return error.kind();
  }
  ADD_FAILURE() << "no error";
  return ErrorKind::Usage;
}

TEST_P(EveryLayout, RefusesTreesThatDoNotFit) {
  const Box box{.low = {0, 0, 0}, .high = {1, 1, 1}};
  Tree wide{{{0, traits_.width + 1}}, {}, {}, box};
  for (std::uint32_t i = 0; i <= traits_.width; ++i) {
    wide.children.push_back({box, i, 1});
    wide.references.push_back(i);
  }
  EXPECT_EQ(kind_of_error([&] { (void)layout_->encode(wide, *order("depth-first")); }), ErrorKind::Internal);
  const Tree childless{{{0, 0}}, {}, {}, box};
  EXPECT_EQ(kind_of_error([&] { (void)layout_->encode(childless, *order("depth-first")); }), ErrorKind::Internal);
  Tree fat{{{0, 1}}, {{box, 0, traits_.max_leaf + 1}}, {}, box};
  fat.references.resize(traits_.max_leaf + 1);
  EXPECT_EQ(kind_of_error([&] { (void)layout_->encode(fat, *order("depth-first")); }), ErrorKind::Internal);
}

std::string name_of(const testing::TestParamInfo<std::string>& parameter) {
  std::string name = parameter.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Layouts, EveryLayout, testing::ValuesIn(Layouts::names()), name_of);

TEST(Layout, AllOfThemAreHere) {
  EXPECT_EQ(Layouts::names(),
            (std::vector<std::string>{"binary", "compressed-wide-8", "half-4", "quantised-6", "wide-4", "wide-8"}));
}

/// Gives what it is told, right or wrong.
class GivenOrder final : public NodeOrder {
 public:
  explicit GivenOrder(std::vector<std::uint32_t> nodes) : nodes_(std::move(nodes)) {}
  [[nodiscard]] std::vector<std::uint32_t> order(const Tree& /*tree*/, bool /*siblings*/) const override {
    return nodes_;
  }

 private:
  std::vector<std::uint32_t> nodes_;
};

TEST(Layout, OrdersThatBreakTheirContractAreFound) {
  const Tree tree = test::perfect_binary_tree(3);
  const auto place = [&](std::vector<std::uint32_t> nodes, bool siblings) {
    return [&tree, nodes, siblings] { (void)place_nodes(tree, GivenOrder(nodes), siblings); };
  };
  EXPECT_NO_THROW(place({0, 1, 2, 3, 4, 5, 6}, true)());
  EXPECT_NO_THROW(place({0, 2, 1, 3, 4, 5, 6}, false)());
  EXPECT_EQ(kind_of_error(place({0, 2, 1, 3, 4, 5, 6}, true)), ErrorKind::Internal);
  EXPECT_EQ(kind_of_error(place({1, 0, 2, 3, 4, 5, 6}, false)), ErrorKind::Internal);
  EXPECT_EQ(kind_of_error(place({0, 1, 2, 3, 4, 5, 5}, false)), ErrorKind::Internal);
  EXPECT_EQ(kind_of_error(place({0, 1, 2, 3, 4, 5, 7}, false)), ErrorKind::Internal);
  EXPECT_EQ(kind_of_error(place({0, 1, 2, 3, 4, 5}, false)), ErrorKind::Internal);
}

TEST(Layout, MoreThanTheFieldsCanNumberIsAnError) {
  EXPECT_EQ(kind_of_error([] { (void)new_level({}, 64, 0xFFFF'FFFFU); }), ErrorKind::Resource);
  EXPECT_EQ(kind_of_error([] { (void)new_level({}, 64, std::uint64_t{1} << 32U); }), ErrorKind::Resource);
  EXPECT_NO_THROW(require_half_4_room(0x7FFF'FFFFU, 0x0FFF'FFFEU));
  EXPECT_EQ(kind_of_error([] { require_half_4_room(0x8000'0000U, 1); }), ErrorKind::Resource);
  EXPECT_EQ(kind_of_error([] { require_half_4_room(1, 0x0FFF'FFFFU); }), ErrorKind::Resource);
}

TEST(Layout, MoreThanMemoryHoldsIsAnError) {
  EXPECT_EQ(kind_of_error([] { (void)new_level({}, 1U << 31U, 0xFFFF'FFFEU); }), ErrorKind::Resource);
}

}  // namespace
}  // namespace rayreplay::bvh
