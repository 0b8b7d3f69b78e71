#include "bvh/decoded_tree.hpp"

#include <array>

namespace rayreplay::bvh {

Box finite_box(const Box& box, const Box& bounds) {
  return {box.low.array().isInf().select(bounds.low, box.low), box.high.array().isInf().select(bounds.high, box.high)};
}

Tree decoded_tree(const Layout& layout, const Level& level) {
  constexpr std::uint32_t kNoParent = 0xFFFF'FFFFU;
  Tree tree;
  tree.bounds = level.bounds;
  tree.references = level.references;
  if (level.empty()) {
    return tree;
  }
  struct Open {
    std::uint32_t record = 0;
    std::uint32_t row = kNoParent;  ///< of `children`, whose index will be this node
  };
  std::vector<Open> open = {{}};
  while (!open.empty()) {
    const Open next = open.back();
    open.pop_back();
    if (next.row != kNoParent) {
      tree.children[next.row].index = static_cast<std::uint32_t>(tree.nodes.size());
    }
    std::array<ChildView, kMaxWidth> views;
    const std::size_t count = layout.decode(level, next.record, views);
    const auto first = static_cast<std::uint32_t>(tree.children.size());
    tree.nodes.push_back({first, static_cast<std::uint32_t>(count)});
    for (std::size_t slot = 0; slot < count; ++slot) {
      tree.children.push_back({finite_box(views[slot].box, level.bounds), views[slot].index, views[slot].count});
    }
    for (std::size_t slot = count; slot-- > 0;) {
      if (views[slot].count == 0) {
        open.push_back({views[slot].index, first + static_cast<std::uint32_t>(slot)});
      }
    }
  }
  return tree;
}

}  // namespace rayreplay::bvh
