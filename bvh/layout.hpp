// Layouts: a tree as the bytes that hardware or a kernel reads (MODELS.md §9).
//
// Contract: `encode` writes the nodes of a tree as records of `node_bytes` bytes, aligned to 64 bytes, in the sequence
// of a node order, the root first. `decode` reads one record: the boxes that a traversal of this layout tests, which
// always contain the tree's, and the place of each child. Quantised layouts enlarge boxes. A layout may store a leaf as
// a record of its own (a *leaf block*), which traversals touch before the primitives. Throws Resource if the tree
// exceeds the layout's fields. To add one: a .cpp file in bvh/layouts/; every traversal works through `decode`. On
// wide-8, near-first has a faster form with the same results (traversal/kernels/wide8_near_first.hpp).
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

inline constexpr std::size_t kMaxWidth = 8;
inline constexpr std::uint32_t kNoBlock = 0xFFFF'FFFFU;

/// One encoded tree.
struct Level {
  std::vector<std::byte, AlignedAllocator<std::byte>> nodes;  ///< node_count records
  std::uint32_t node_bytes = 0;
  std::uint32_t node_count = 0;           ///< records, leaf blocks included; 0: empty
  std::vector<std::uint32_t> references;  ///< of the tree, in the layout's order
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
};

class Layout {
 public:
  static constexpr const char* kModelKind = "layout";
  virtual ~Layout() = default;
  [[nodiscard]] virtual LayoutTraits traits() const = 0;
  [[nodiscard]] virtual Level encode(const Tree& tree, const NodeOrder& order) const = 0;
  /// Decodes the children of a node record in slot order; returns their number.
  [[nodiscard]] virtual std::size_t decode(const Level& level, std::uint32_t record,
                                           std::span<ChildView, kMaxWidth> children) const = 0;
};

using Layouts = Registry<Layout>;

}  // namespace rayreplay::bvh
