// Layout binary: two children with boxes of 32-bit floats, 64 bytes.
//
// Contract: bytes in binary.hpp. Encoding is O(nodes), parallel; references stay as the tree has them.
#include "bvh/layouts/binary.hpp"

#include "bvh/layouts/placement.hpp"

namespace rayreplay::bvh {
namespace {

constexpr std::uint32_t kMaxLeaf = 32;

BinaryNode make_binary_node(const Tree& tree, const Placement& placement, std::uint32_t number) {
  BinaryNode node;
  const TreeNode& source = tree.nodes[number];
  for (std::size_t slot = 0; slot < 2; ++slot) {
    const bool used = slot < source.child_count;
    const TreeChild child = used ? tree.children[source.first_child + slot] : TreeChild{};  // its box is empty
    node.xy[slot] = {child.box.low[0], child.box.high[0], child.box.low[1], child.box.high[1]};
    node.z[slot] = {child.box.low[2], child.box.high[2]};
    node.index[slot] = !used ? kUnusedSlot : child.is_leaf() ? child.index : placement.place[child.index];
    node.count[slot] = child.count;
  }
  return node;
}

class Binary final : public Layout {
 public:
  [[nodiscard]] LayoutTraits traits() const override {
    return {.width = 2,
            .node_bytes = sizeof(BinaryNode),
            .max_leaf = kMaxLeaf,
            .quantised = false,
            .siblings_together = false};
  }

  [[nodiscard]] Level encode(const Tree& tree, const NodeOrder& order) const override {
    return encode_nodes(tree, order, traits(), "binary", make_binary_node);
  }

  [[nodiscard]] std::size_t decode(const Level& level, std::uint32_t record,
                                   std::span<ChildView, kMaxWidth> children) const override {
    return decode_slots<2>(binary_node(level, record), children);
  }
};

const Layouts::Registrar kRegistrar(
    {.kind = {},
     .name = "binary",
     .summary = "Two children, boxes of 32-bit floats, 64 bytes a node",
     .text =
         "A node holds the boxes of both its children. A child takes 32 bits for its record or first reference and 32 "
         "bits for the number of references. Boxes are the tree's, bit for bit.",
     .source = "Aila and Laine 2009",
     .parameters = {}},
    [](const Parameters&) { return std::make_unique<Binary>(); });

}  // namespace
}  // namespace rayreplay::bvh
