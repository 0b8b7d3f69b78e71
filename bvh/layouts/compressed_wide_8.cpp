// Layout compressed-wide-8: eight children with 8-bit planes on a grid of the node's own, 80 bytes.
//
// Contract: bytes in compressed_wide_8.hpp. Encoding is O(nodes + references), the planes in parallel; references are
// put in the order of their nodes' records, so that those of a node's leaves follow one another.
#include "bvh/layouts/compressed_wide_8.hpp"

#include <array>

#include "bvh/layouts/placement.hpp"

namespace rayreplay::bvh {
namespace {

constexpr std::uint32_t kMaxLeafItems = 3;
constexpr std::array<std::uint8_t, kMaxLeafItems + 1> kUnary = {0, 0x20, 0x60, 0xE0};

/// Copies the references in the order of records; returns the first of each record's.
std::vector<std::uint32_t> gather_references(const Tree& tree, const Placement& placement, Level& level) {
  std::vector<std::uint32_t> first(placement.sequence.size());
  level.references.reserve(tree.references.size());
  for (std::size_t record = 0; record < first.size(); ++record) {
    first[record] = static_cast<std::uint32_t>(level.references.size());
    const TreeNode& node = tree.nodes[placement.sequence[record]];
    for (const TreeChild& child : std::span(tree.children).subspan(node.first_child, node.child_count)) {
      const auto rows = std::span(tree.references).subspan(child.is_leaf() ? child.index : 0, child.count);
      level.references.insert(level.references.end(), rows.begin(), rows.end());
    }
  }
  return first;
}

CompressedWide8Node make_node(const Tree& tree, const Placement& placement, std::uint32_t number,
                              std::uint32_t first_reference) {
  const TreeNode& source = tree.nodes[number];
  const Grid grid = Grid::fit(box_around(tree, source));
  CompressedWide8Node node{};
  node.origin = grid.origin;
  node.exponent = grid.exponent;
  node.first_reference = first_reference;
  for (unsigned axis = 0; axis < 3; ++axis) {
    node.low[axis].fill(Grid::kLastPlane);
  }
  std::uint32_t offset = 0;
  for (std::size_t slot = 0; slot < source.child_count; ++slot) {
    const TreeChild& child = tree.children[source.first_child + slot];
    for (unsigned axis = 0; axis < 3; ++axis) {
      node.low[axis][slot] = grid.below(axis, child.box.low[axis]);
      node.high[axis][slot] = grid.above(axis, child.box.high[axis]);
    }
    if (child.is_leaf()) {
      node.meta[slot] = static_cast<std::uint8_t>(kUnary[child.count] | offset);
      offset += child.count;
    } else {
      if (node.inner_mask == 0) {
        node.first_child = placement.place[child.index];
      }
      node.inner_mask = static_cast<std::uint8_t>(node.inner_mask | 1U << slot);
      node.meta[slot] = static_cast<std::uint8_t>(CompressedWide8Node::kInner + slot);
    }
  }
  return node;
}

class CompressedWide8 final : public Layout {
 public:
  [[nodiscard]] LayoutTraits traits() const override {
    return {.width = 8,
            .node_bytes = sizeof(CompressedWide8Node),
            .max_leaf = kMaxLeafItems,
            .quantised = true,
            .siblings_together = true};
  }

  [[nodiscard]] Level encode(const Tree& tree, const NodeOrder& order) const override {
    require_shape(tree, traits(), "compressed-wide-8");
    const Placement placement = place_nodes(tree, order, true);
    Level level = new_level(tree, sizeof(CompressedWide8Node), tree.nodes.size());
    const std::vector<std::uint32_t> first = gather_references(tree, placement, level);
    write_records(level, placement, [&](std::uint32_t node, std::uint32_t record) {
      return make_node(tree, placement, node, first[record]);
    });
    return level;
  }

  [[nodiscard]] std::size_t decode(const Level& level, std::uint32_t record,
                                   std::span<ChildView, kMaxWidth> children) const override {
    return decode_slots<8>(compressed_wide_8_node(level, record), children);
  }
};

const Layouts::Registrar kRegistrar(
    {.kind = {},
     .name = "compressed-wide-8",
     .summary = "Eight children with 8-bit planes on a grid per node, 80 bytes a node",
     .text =
         "Every node has a grid: its lower corner in 32-bit floats, and per axis a step that is a power of two. Boxes "
         "of children are rounded outward to its planes. Inner siblings lie side by side, so that one number and a "
         "mask say where all of them are; a leaf has at most three references.",
     .source = "Ylitie, Karras and Laine 2017, section 3.1",
     .parameters = {}},
    [](const Parameters&) { return std::make_unique<CompressedWide8>(); });

}  // namespace
}  // namespace rayreplay::bvh
