// Layouts: a tree as the bytes that hardware or a kernel reads (MODELS.md §9).
//
// Contract: `encode` writes the nodes of a tree as records of `node_bytes` bytes, aligned to 64 bytes, in the sequence
// of a node order, the root first. `decode` reads one record: the boxes that a traversal of this layout tests, which
// always contain the tree's, and the place of each child. Quantised layouts enlarge boxes. A layout may store a leaf as
// a record of its own (a *leaf block*), which traversals touch before the primitives. Throws Resource if the tree
// exceeds the layout's fields. To add one: a .cpp file in bvh/layouts/; every traversal works through `decode`. On
// wide-8, near-first has a faster form with the same results (traversal/kernels/wide8_near_first.hpp).
//
// Leaf blocks of a layout with `holds_primitives` are the primitives and instances themselves: a traversal reads the
// block and nothing else to test them. A leaf is then an instance, a box, a triangle, or two triangles that share an
// edge; trees for such layouts are built over these as items, one a leaf (triangle_pairs.hpp), and encoded by
// `encode_leaves`. When the structures have addresses, `link` writes them into the blocks of instances.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/registry.hpp"
#include "bvh/geometry/aligned.hpp"
#include "bvh/geometry/box.hpp"
#include "bvh/node_order.hpp"
#include "bvh/tree.hpp"
#include "capture/trace/trace.hpp"

namespace rayreplay::bvh {

struct PreparedScene;

inline constexpr std::size_t kMaxWidth = 8;
inline constexpr std::uint32_t kNoBlock = 0xFFFF'FFFFU;

/// One encoded tree.
struct Level {
  std::vector<std::byte, AlignedAllocator<std::byte>> nodes;  ///< node_count records
  std::uint32_t node_bytes = 0;
  std::uint32_t node_count = 0;           ///< records, leaf blocks included; 0: empty
  std::vector<std::uint32_t> references;  ///< of the tree, in the layout's order
  /// By record: where a leaf block's references start, for blocks whose bytes do not say it; else empty.
  std::vector<std::uint32_t> first_reference;
  Box bounds;

  [[nodiscard]] bool empty() const {
    return node_count == 0;
  }
  [[nodiscard]] const std::byte* record(std::uint32_t index) const {
    return nodes.data() + std::size_t{index} * node_bytes;
  }
};

/// A child in the form of traversals. count 0: the record `index`; else the references [index, index + count).
struct ChildView {
  Box box;
  std::uint32_t index = 0;
  std::uint32_t count = 0;
  std::uint32_t block = kNoBlock;  ///< leaf block to touch first
};

struct LayoutTraits {
  std::uint32_t width = 0;         ///< children a node
  std::uint32_t node_bytes = 0;    ///< a record
  std::uint32_t max_leaf = 0;      ///< references a leaf
  bool quantised = false;          ///< boxes may be larger than the tree's
  bool siblings_together = false;  ///< records of a node's inner children must be consecutive
  bool holds_primitives = false;   ///< leaf blocks are primitives and instances, not references to them

  /// Items of a builder that a leaf may take.
  [[nodiscard]] std::uint32_t most_items() const {
    return holds_primitives ? 1 : max_leaf;
  }
};

/// The meaning of the references of a tree: instances, or the primitives of a bottom-level structure.
struct LeafSource {
  static constexpr std::uint32_t kTop = 0xFFFF'FFFFU;

  const PreparedScene* scene = nullptr;
  std::uint32_t blas = kTop;
};

class Layout {
 public:
  static constexpr const char* kModelKind = "layout";
  virtual ~Layout() = default;
  [[nodiscard]] virtual LayoutTraits traits() const = 0;
  /// Internal for layouts that hold primitives, if the tree is not empty.
  [[nodiscard]] virtual Level encode(const Tree& tree, const NodeOrder& order) const = 0;
  /// The scene must be prepared; layouts that hold no primitives do not read it.
  [[nodiscard]] virtual Level encode_leaves(const Tree& tree, const NodeOrder& order,
                                            const LeafSource& /*source*/) const {
    return encode(tree, order);
  }
  /// `bottom_nodes`: addresses of the nodes of each bottom-level structure.
  virtual void link(Level& /*top*/, const PreparedScene& /*scene*/,
                    std::span<const std::uint64_t> /*bottom_nodes*/) const {}
  /// Decodes the children of a node record in slot order; returns their number.
  [[nodiscard]] virtual std::size_t decode(const Level& level, std::uint32_t record,
                                           std::span<ChildView, kMaxWidth> children) const = 0;
};

using Layouts = Registry<Layout>;

}  // namespace rayreplay::bvh
