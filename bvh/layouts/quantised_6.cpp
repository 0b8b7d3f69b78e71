// Layout quantised-6: six children with 8-bit planes on a grid of the node's own, leaves as blocks; 64 bytes each.
//
// Contract: bytes in quantised_6.hpp and quantised_6_leaves.hpp. Encoding is O(nodes + leaves), parallel; references
// stay as the tree has them. Throws Resource when there are 2^31 records or more: child offsets have a sign.
#include "bvh/layouts/quantised_6.hpp"

#include <algorithm>
#include <cstring>

#include "base/declare_parameters.hpp"
#include "base/error.hpp"
#include "bvh/layouts/leaf_blocks.hpp"
#include "bvh/layouts/placement.hpp"
#include "bvh/layouts/quantised_6_leaves.hpp"

namespace rayreplay::bvh {
namespace {

using Node = Quantised6Node;

/// Type and records of a child.
struct Kind {
  std::uint8_t type = Node::kNodeType;
  std::uint8_t records = 1;
};

constexpr Kind kInstance{Node::kInstanceType, sizeof(InstanceLeaf) / sizeof(Node)};

Quantised6Leaf make_leaf(const Tree& tree, const TreeChild& source) {
  Quantised6Leaf leaf{source.index, source.count, {}};
  leaf.reference.fill(trace::kNone);
  std::copy_n(tree.references.begin() + source.index, source.count, leaf.reference.begin());
  return leaf;
}

/// The records of one tree.
class Encoding {
 public:
  /// `source`: what quad, procedural and instance leaves hold; null: leaf blocks hold references.
  Encoding(const Tree& tree, const NodeOrder& order, const LeafSource* source)
      : given_(&tree), source_(source), all_(with_leaf_blocks(tree)) {
    const bool instances = source != nullptr && source->blas == LeafSource::kTop;
    records_ = all_.tree.nodes.size() + (instances ? all_.leaf_row.size() : 0);
    if (records_ >= std::size_t{1} << 31U) {
      throw Error(ErrorKind::Resource,
                  {"the acceleration structure has too many nodes and leaf blocks for layout quantised-6", "",
                   std::to_string(records_), "fewer than 2147483648", "use larger leaves"});
    }
    placement_ = place_nodes(all_.tree, order, true);
    if (instances) {
      place_instances();
    }
  }

  [[nodiscard]] Level level() const {
    Level level = new_level(*given_, sizeof(Node), records_);
    level.references = given_->references;
    if (source_ != nullptr) {
      level.first_reference.assign(records_, 0);
    }
    constexpr std::size_t kGrain = 2048;
    tbb::parallel_for(tbb::blocked_range<std::size_t>(0, placement_.sequence.size(), kGrain), [&](const auto& range) {
      for (std::size_t place = range.begin(); place < range.end(); ++place) {
        write(placement_.sequence[place], level);
      }
    });
    return level;
  }

 private:
  /// Instance leaves take two records.
  void place_instances() {
    record_of_.resize(placement_.sequence.size());
    std::uint32_t record = 0;
    for (const std::uint32_t number : placement_.sequence) {
      record_of_[number] = record;
      record += number < all_.inner_nodes ? 1 : kInstance.records;
    }
  }
  [[nodiscard]] std::uint32_t record_of(std::uint32_t number) const {
    return record_of_.empty() ? placement_.place[number] : record_of_[number];
  }
  [[nodiscard]] const TreeChild& leaf_of(std::uint32_t number) const {
    return given_->children[all_.leaf_row[number - all_.inner_nodes]];
  }
  [[nodiscard]] std::span<const std::uint32_t> references_of(const TreeChild& leaf) const {
    return std::span(given_->references).subspan(leaf.index, leaf.count);
  }

  [[nodiscard]] Kind kind_of(std::uint32_t number) const {
    if (number < all_.inner_nodes) {
      return {};
    }
    if (source_ == nullptr) {
      return {Node::kLeafType};
    }
    const std::span<const std::uint32_t> references = references_of(leaf_of(number));
    if (source_->blas == LeafSource::kTop) {
      require_one(references);
      return kInstance;
    }
    const std::uint32_t geometry = source_->scene->locate(source_->blas, references[0]).first;
    if (source_->scene->geometry(source_->blas, geometry).type == trace::GeometryType::Triangles) {
      return {Node::kQuadType};
    }
    require_one(references);
    return {Node::kLeafType};
  }
  static void require_one(std::span<const std::uint32_t> references) {
    if (references.size() != 1) {
      throw Error(ErrorKind::Internal, {"a leaf does not fit the layout", "quantised-6",
                                        std::to_string(references.size()), "one instance or box", ""});
    }
  }

  void write(std::uint32_t number, Level& level) const {
    const std::uint32_t record = record_of(number);
    const auto put = [&](const auto& bytes) {
      std::memcpy(level.nodes.data() + std::size_t{record} * sizeof(Node), &bytes, sizeof(bytes));
    };
    const Kind kind = kind_of(number);
    if (kind.type == Node::kNodeType) {
      return put(make_node(number, record));
    }
    const TreeChild& leaf = leaf_of(number);
    if (source_ == nullptr) {
      return put(make_leaf(*given_, leaf));
    }
    level.first_reference[record] = leaf.index;
    const std::span<const std::uint32_t> references = references_of(leaf);
    if (kind.type == Node::kInstanceType) {
      put(make_instance_leaf(*source_->scene, references[0]));
    } else if (kind.type == Node::kQuadType) {
      put(make_quad_leaf(*source_->scene, source_->blas, references));
    } else {
      put(make_procedural_leaf(*source_->scene, source_->blas, references[0]));
    }
  }

  [[nodiscard]] Node make_node(std::uint32_t number, std::uint32_t record) const {
    const Tree& tree = all_.tree;
    const TreeNode& from = tree.nodes[number];
    const Grid grid = Grid::fit(box_around(tree, from));
    Node node{};
    node.origin = grid.origin;
    node.exponent = grid.exponent;
    node.type = Node::kNodeType;
    node.mask = 0xFF;
    node.child_offset = static_cast<std::int32_t>(record_of(tree.children[from.first_child].index) - record);
    for (auto& axis : node.planes) {
      axis[0].fill(Node::kUnusedLow);
    }
    for (std::size_t slot = 0; slot < from.child_count; ++slot) {
      const TreeChild& child = tree.children[from.first_child + slot];
      for (unsigned axis = 0; axis < 3; ++axis) {
        node.planes[axis][0][slot] = grid.below(axis, child.box.low[axis]);
        node.planes[axis][1][slot] = grid.above(axis, child.box.high[axis]);
      }
      const Kind kind = kind_of(child.index);
      node.child[slot] = static_cast<std::uint8_t>(kind.records | unsigned{kind.type} << 2U);
    }
    return node;
  }

  const Tree* given_;
  const LeafSource* source_;
  TreeWithLeafBlocks all_;
  Placement placement_;
  std::size_t records_ = 0;
  std::vector<std::uint32_t> record_of_;  ///< by node; empty: its place
};

class Quantised6 final : public Layout {
 public:
  explicit Quantised6(bool quads) : quads_(quads) {}

  [[nodiscard]] LayoutTraits traits() const override {
    return {.width = 6,
            .node_bytes = sizeof(Node),
            .max_leaf = quads_ ? 2 : Quantised6Leaf::kMax,
            .quantised = true,
            .siblings_together = true,
            .holds_primitives = quads_};
  }

  [[nodiscard]] Level encode(const Tree& tree, const NodeOrder& order) const override {
    if (quads_ && !tree.empty()) {
      throw Error(ErrorKind::Internal, {"a tree without its primitives", "quantised-6:leaves=quads",
                                        std::to_string(tree.references.size()), "the scene", ""});
    }
    require_shape(tree, traits(), "quantised-6");
    return Encoding(tree, order, nullptr).level();
  }
  [[nodiscard]] Level encode_leaves(const Tree& tree, const NodeOrder& order, const LeafSource& source) const override {
    if (!quads_) {
      return encode(tree, order);
    }
    require_shape(tree, traits(), "quantised-6");
    return Encoding(tree, order, &source).level();
  }

  void link(Level& top, const PreparedScene& scene, std::span<const std::uint64_t> bottom_nodes) const override {
    if (quads_ && !top.empty()) {
      link_below(top, 0, scene, bottom_nodes);
    }
  }

  [[nodiscard]] std::size_t decode(const Level& level, std::uint32_t record,
                                   std::span<ChildView, kMaxWidth> children) const override {
    const Node& node = quantised_6_node(level, record);
    std::size_t slot = 0;
    std::uint32_t place = node.first_record(record);
    for (; slot < 6 && node.used(slot); place += node.records(slot++)) {
      if (!node.leaf(slot)) {
        children[slot] = {.box = node.box(slot), .index = place, .count = 0, .block = kNoBlock};
      } else if (quads_) {
        const bool pair = node.type_of(slot) == Node::kQuadType && quad_leaf(level, place).triangles() == 2;
        children[slot] = {
            .box = node.box(slot), .index = level.first_reference[place], .count = pair ? 2U : 1U, .block = place};
      } else {
        const Quantised6Leaf& leaf = quantised_6_leaf(level, place);
        children[slot] = {.box = node.box(slot), .index = leaf.first, .count = leaf.count, .block = place};
      }
    }
    return slot;
  }

 private:
  void link_below(Level& top, std::uint32_t root, const PreparedScene& scene,
                  std::span<const std::uint64_t> bottom_nodes) const {
    std::vector<std::uint32_t> open{root};
    std::array<ChildView, kMaxWidth> children;
    while (!open.empty()) {
      const std::size_t count = decode(top, open.back(), children);
      open.pop_back();
      for (std::size_t slot = 0; slot < count; ++slot) {
        if (children[slot].count == 0) {
          open.push_back(children[slot].index);
          continue;
        }
        auto& leaf =
            *reinterpret_cast<InstanceLeaf*>(top.nodes.data() + std::size_t{children[slot].block} * sizeof(Node));
        const std::uint64_t address = bottom_nodes[scene.instances[leaf.instance].blas];
        leaf.start |= address;
        leaf.structure = address;
      }
    }
  }

  bool quads_;
};

const Layouts::Registrar kRegistrar(
    {.kind = {},
     .name = "quantised-6",
     .summary = "Six children with 8-bit planes on a grid per node, leaf blocks, 64 bytes a record",
     .text =
         "Every node has a grid: its lower corner in 32-bit floats, and per axis a step that is a power of two. Boxes "
         "of children are rounded outward to its planes. A leaf is a record of its own, which traversals touch before "
         "the primitives. All children of a node lie side by side, and the node says how far away they are. "
         "leaves=references: a leaf has up to 14 references; indices and vertices are read from the geometry's arrays. "
         "leaves=quads, as Intel's hardware: a leaf is one triangle, or two that share an edge, with its vertices in "
         "64 bytes; one box primitive (64 bytes, without the box); or one instance (128 bytes, of which traversal "
         "reads 64). Triangles are paired before the tree is built, over windows of 32 of a geometry; leaf_size of a "
         "builder is 1 then. The choice for machine arc-a770.",
     .source = "InternalNode6 of Intel's public ray tracing libraries (GRL; Embree 4, rthwif); leaves: Mesa's "
               "src/intel/vulkan/bvh/anv_bvh.h, pairs: quadifier.h of Embree 4",
     .parameters = {declare::choice("leaves", "references", {"references", "quads"}, "What a leaf's record holds.")}},
    [](const Parameters& parameters) {
      return std::make_unique<Quantised6>(parameters.get_string("leaves") == "quads");
    });

}  // namespace
}  // namespace rayreplay::bvh
