// Layout quantised-6: six children with 8-bit planes on a grid of the node's own, leaves as blocks; 64 bytes each.
//
// Contract: bytes in quantised_6.hpp. Encoding is O(nodes + leaves), parallel; references stay as the tree has them.
// Throws Resource when there are 2^31 records or more: child offsets have a sign.
#include "bvh/layouts/quantised_6.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "bvh/layouts/leaf_blocks.hpp"
#include "bvh/layouts/placement.hpp"

namespace rayreplay::bvh {
namespace {

constexpr std::uint8_t kOneRecord = 1;

/// A record: node or leaf block.
struct alignas(64) Record {
  std::array<std::byte, 64> bytes;
};

Quantised6Leaf make_leaf(const Tree& tree, std::uint32_t row) {
  const TreeChild& source = tree.children[row];
  Quantised6Leaf leaf{source.index, source.count, {}};
  leaf.reference.fill(trace::kNone);
  std::copy_n(tree.references.begin() + source.index, source.count, leaf.reference.begin());
  return leaf;
}

Quantised6Node make_node(const TreeWithLeafBlocks& source, const Placement& placement, std::uint32_t number,
                         std::uint32_t record) {
  const Tree& tree = source.tree;
  const TreeNode& from = tree.nodes[number];
  const Grid grid = Grid::fit(box_around(tree, from));
  Quantised6Node node{};
  node.origin = grid.origin;
  node.exponent = grid.exponent;
  node.type = Quantised6Node::kNodeType;
  node.mask = 0xFF;
  node.child_offset = static_cast<std::int32_t>(placement.place[tree.children[from.first_child].index] - record);
  for (auto& axis : node.planes) {
    axis[0].fill(Quantised6Node::kUnusedLow);
  }
  for (std::size_t slot = 0; slot < from.child_count; ++slot) {
    const TreeChild& child = tree.children[from.first_child + slot];
    for (unsigned axis = 0; axis < 3; ++axis) {
      node.planes[axis][0][slot] = grid.below(axis, child.box.low[axis]);
      node.planes[axis][1][slot] = grid.above(axis, child.box.high[axis]);
    }
    const unsigned type = child.index < source.inner_nodes ? Quantised6Node::kNodeType : Quantised6Node::kLeafType;
    node.child[slot] = static_cast<std::uint8_t>(kOneRecord | type << 2U);
  }
  return node;
}

class Quantised6 final : public Layout {
 public:
  [[nodiscard]] LayoutTraits traits() const override {
    return {.width = 6,
            .node_bytes = sizeof(Quantised6Node),
            .max_leaf = Quantised6Leaf::kMax,
            .quantised = true,
            .siblings_together = true};
  }

  [[nodiscard]] Level encode(const Tree& tree, const NodeOrder& order) const override {
    require_shape(tree, traits(), "quantised-6");
    const TreeWithLeafBlocks source = with_leaf_blocks(tree);
    if (source.tree.nodes.size() >= std::size_t{1} << 31U) {
      throw Error(ErrorKind::Resource,
                  {"the acceleration structure has too many nodes and leaf blocks for layout quantised-6", "",
                   std::to_string(source.tree.nodes.size()), "fewer than 2147483648", "use larger leaves"});
    }
    const Placement placement = place_nodes(source.tree, order, true);
    Level level = new_level(tree, sizeof(Record), source.tree.nodes.size());
    level.references = tree.references;
    write_records(level, placement, [&](std::uint32_t number, std::uint32_t record) {
      return number < source.inner_nodes
                 ? std::bit_cast<Record>(make_node(source, placement, number, record))
                 : std::bit_cast<Record>(make_leaf(tree, source.leaf_row[number - source.inner_nodes]));
    });
    return level;
  }

  [[nodiscard]] std::size_t decode(const Level& level, std::uint32_t record,
                                   std::span<ChildView, kMaxWidth> children) const override {
    const Quantised6Node& node = quantised_6_node(level, record);
    std::size_t slot = 0;
    for (; slot < 6 && node.used(slot); ++slot) {
      const std::uint32_t place = node.record(record, slot);
      if (node.leaf(slot)) {
        const Quantised6Leaf& leaf = quantised_6_leaf(level, place);
        children[slot] = {.box = node.box(slot), .index = leaf.first, .count = leaf.count, .block = place};
      } else {
        children[slot] = {.box = node.box(slot), .index = place, .count = 0, .block = kNoBlock};
      }
    }
    return slot;
  }
};

const Layouts::Registrar kRegistrar(
    {.kind = {},
     .name = "quantised-6",
     .summary = "Six children with 8-bit planes on a grid per node, leaf blocks, 64 bytes a record",
     .text =
         "Every node has a grid: its lower corner in 32-bit floats, and per axis a step that is a power of two. Boxes "
         "of children are rounded outward to its planes. A leaf is a record of its own with up to 14 references, "
         "which traversals touch before the primitives. All children of a node lie side by side, and the node says "
         "how far away they are.",
     .source = "InternalNode6 of Intel's public ray tracing libraries (GRL; Embree 4, rthwif)",
     .parameters = {}},
    [](const Parameters&) { return std::make_unique<Quantised6>(); });

}  // namespace
}  // namespace rayreplay::bvh
