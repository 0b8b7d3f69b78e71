// Node order van-emde-boas: cache-oblivious.
//
// Contract: node_order.hpp. A subtree of height h > 1 is laid out as its top ⌊h/2⌋ levels, then the subtrees below them
// one after another, all parts recursively in the same way. Subtrees that end early count with their actual height.
// With `siblings_together` the units are groups of siblings. O(nodes · log height); the recursion depth is log2 of the
// height.
#include <algorithm>

#include "bvh/node_order.hpp"
#include "bvh/orders/units.hpp"

namespace rayreplay::bvh {
namespace {

/// Levels below and including each unit, by the node that names it.
std::vector<std::uint32_t> heights(const Tree& tree, const Units& units, std::uint32_t root) {
  std::vector<std::uint32_t> down = {root};
  down.reserve(tree.nodes.size());
  for (std::size_t i = 0; i < down.size(); ++i) {
    units.for_each_child(down[i], [&](std::uint32_t child) { down.push_back(child); });
  }
  std::vector<std::uint32_t> height(tree.nodes.size(), 1);
  for (auto unit = down.rbegin(); unit != down.rend(); ++unit) {
    units.for_each_child(*unit,
                         [&](std::uint32_t child) { height[*unit] = std::max(height[*unit], height[child] + 1); });
  }
  return height;
}

class Recursion {
 public:
  Recursion(const Units& units, const std::vector<std::uint32_t>& height, Sequence& sequence)
      : units_(units), height_(height), sequence_(sequence) {}

  /// Lays out `levels` levels from `root` on; appends the units directly below them to `below`.
  void lay_out(std::uint32_t root, std::uint32_t levels, std::vector<std::uint32_t>& below) {
    if (levels == 1) {
      sequence_.add(root);
      units_.for_each_child(root, [&](std::uint32_t child) { below.push_back(child); });
      return;
    }
    const std::uint32_t split = std::min(levels, height_[root]);
    if (split == 1) {
      sequence_.add(root);
      return;
    }
    const std::uint32_t top = split / 2;
    std::vector<std::uint32_t> roots;
    lay_out(root, top, roots);
    for (const std::uint32_t next : roots) {
      lay_out(next, levels - top, below);
    }
  }

 private:
  const Units& units_;
  const std::vector<std::uint32_t>& height_;
  Sequence& sequence_;
};

class VanEmdeBoas final : public NodeOrder {
 public:
  [[nodiscard]] std::vector<std::uint32_t> order(const Tree& tree, bool siblings_together) const override {
    const Units units(tree, siblings_together);
    Sequence sequence(tree, units);
    if (const auto root = units.root()) {
      const std::vector<std::uint32_t> height = heights(tree, units, *root);
      std::vector<std::uint32_t> below;
      Recursion(units, height, sequence).lay_out(*root, height[*root], below);
    }
    return sequence.take();
  }
};

const NodeOrders::Registrar kRegistrar(
    {.kind = {},
     .name = "van-emde-boas",
     .summary = "Top half of the levels, then the subtrees below, each in the same way",
     .text =
         "Cache-oblivious: whatever the size of a cache line, a path from the root to a leaf crosses few of them. A "
         "subtree of h levels is laid out as its top h/2 levels (rounded down), then the subtrees that hang below "
         "those, one after the other; every part is laid out in the same way. Subtrees that end early are cut at half "
         "the height that they have. Layouts that need siblings side by side get groups of siblings in place of nodes.",
     .source = "Prokop 1999; Yoon and Manocha 2006 (bounding volume hierarchies)",
     .parameters = {}},
    [](const Parameters&) { return std::make_unique<VanEmdeBoas>(); });

}  // namespace
}  // namespace rayreplay::bvh
