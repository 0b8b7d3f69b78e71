// Layout half-4: four children with boxes in half precision, 64 bytes.
//
// Contract: bytes in half_4.hpp. Encoding is O(nodes), parallel; references stay as the tree has them. Throws Resource
// when there are 2^31 nodes or 2^28 − 1 references or more.
#include "bvh/layouts/half_4.hpp"

#include "base/error.hpp"
#include "bvh/layouts/placement.hpp"

namespace rayreplay::bvh {
namespace {

Half4Node make_half_node(const Tree& tree, const Placement& placement, std::uint32_t number) {
  constexpr auto kNegativeInfinity = static_cast<std::uint16_t>(kHalfSign | kHalfInfinity);
  Half4Node node;
  node.child_bits.fill(kUnusedSlot);
  for (auto& [low, high] : node.planes) {
    low.fill(kHalfInfinity);
    high.fill(kNegativeInfinity);
  }
  const TreeNode& source = tree.nodes[number];
  for (std::size_t slot = 0; slot < source.child_count; ++slot) {
    const TreeChild& child = tree.children[source.first_child + slot];
    node.child_bits[slot] = child.is_leaf()
                                ? Half4Node::kLeaf | (child.count - 1) << Half4Node::kCountShift | child.index
                                : placement.place[child.index];
    for (unsigned axis = 0; axis < 3; ++axis) {
      node.planes[slot][0][axis] = half_below(child.box.low[axis]);
      node.planes[slot][1][axis] = half_above(child.box.high[axis]);
    }
  }
  return node;
}

class Half4 final : public Layout {
 public:
  [[nodiscard]] LayoutTraits traits() const override {
    return {.width = 4,
            .node_bytes = sizeof(Half4Node),
            .max_leaf = Half4Node::kMaxLeaf,
            .quantised = true,
            .siblings_together = false};
  }

  [[nodiscard]] Level encode(const Tree& tree, const NodeOrder& order) const override {
    require_half_4_room(tree.nodes.size(), tree.references.size());
    return encode_nodes(tree, order, traits(), "half-4", make_half_node);
  }

  [[nodiscard]] std::size_t decode(const Level& level, std::uint32_t record,
                                   std::span<ChildView, kMaxWidth> children) const override {
    return decode_slots<4>(half_4_node(level, record), children);
  }
};

const Layouts::Registrar kRegistrar(
    {.kind = {},
     .name = "half-4",
     .summary = "Four children, boxes in half precision rounded outward, 64 bytes a node",
     .text =
         "Planes are IEEE halves in the space of the structure, rounded down and up, infinite beyond 65504. A child "
         "takes 32 bits: a record, or the count (up to 8) and first number (28 bits) of a leaf's references.",
     .source = "16-bit box node of AMD's RDNA 2 (Mesa, radv_bvh_box16_node)",
     .parameters = {}},
    [](const Parameters&) { return std::make_unique<Half4>(); });

}  // namespace

void require_half_4_room(std::uint64_t nodes, std::uint64_t references) {
  const auto refuse = [](const char* what, std::uint64_t found, std::uint32_t limit) {
    throw Error(ErrorKind::Resource, {what, "", std::to_string(found), "fewer than " + std::to_string(limit),
                                      "choose a layout with wider fields, such as wide-4"});
  };
  if (nodes >= Half4Node::kLeaf) {
    refuse("the acceleration structure has too many nodes for layout half-4", nodes, Half4Node::kLeaf);
  }
  if (references >= Half4Node::kIndexMask) {
    refuse("the acceleration structure has too many references for layout half-4", references, Half4Node::kIndexMask);
  }
}

}  // namespace rayreplay::bvh
