// Nodes and leaves during a build, before they have numbers; and their flattening into a Tree.
//
// Contract: a record has its box and the sizes of its subtree, so that `flatten` knows every node's place in advance:
// depth-first order (node, then the subtrees of its inner children in child order), independent of the threads that
// made the records. A node's rows of `children` and a leaf's references have the same order. Records are in `bytes`
// bytes of the builder's memory. `flatten`: O(nodes + references), parallel; throws Resource if a count needs more than
// 32 bits.
#pragma once

#include <cstddef>
#include <cstdint>

#include "bvh/tree.hpp"

namespace rayreplay::bvh {

struct BuildRecord {
  Box box;
  std::uint32_t leaf : 1 = 0;
  std::uint32_t count : 31 = 0;  ///< of a node's children or a leaf's references
};

struct LeafRecord : BuildRecord {
  [[nodiscard]] static constexpr std::size_t bytes(std::size_t count);
  explicit LeafRecord(std::size_t size) {
    leaf = 1;
    count = static_cast<std::uint32_t>(size) & 0x7FFF'FFFFU;
  }
  /// Stored after the record.
  [[nodiscard]] std::uint32_t* references() {
    return reinterpret_cast<std::uint32_t*>(this + 1);
  }
  [[nodiscard]] const std::uint32_t* references() const {
    return reinterpret_cast<const std::uint32_t*>(this + 1);
  }
};

struct alignas(8) NodeRecord : BuildRecord {
  std::uint32_t nodes = 1;       ///< of the subtree, itself included
  std::uint32_t leaves = 0;      ///< of the subtree
  std::uint32_t references = 0;  ///< of the subtree

  [[nodiscard]] static constexpr std::size_t bytes(std::size_t count);
  explicit NodeRecord(std::size_t size) {
    count = static_cast<std::uint32_t>(size) & 0x7FFF'FFFFU;
  }
  /// Stored after the record.
  [[nodiscard]] BuildRecord** children() {
    return reinterpret_cast<BuildRecord**>(this + 1);
  }
  [[nodiscard]] BuildRecord* const* children() const {
    return reinterpret_cast<BuildRecord* const*>(this + 1);
  }
  /// Box and sizes, from the complete children.
  void complete();
};

constexpr std::size_t LeafRecord::bytes(std::size_t count) {
  return sizeof(LeafRecord) + count * sizeof(std::uint32_t);
}
constexpr std::size_t NodeRecord::bytes(std::size_t count) {
  return sizeof(NodeRecord) + count * sizeof(BuildRecord*);
}

[[nodiscard]] inline const LeafRecord& as_leaf(const BuildRecord& record) {
  return static_cast<const LeafRecord&>(record);
}
[[nodiscard]] inline const NodeRecord& as_node(const BuildRecord& record) {
  return static_cast<const NodeRecord&>(record);
}

/// A root that is a leaf becomes the only child of a node.
[[nodiscard]] Tree flatten(const BuildRecord& root);

}  // namespace rayreplay::bvh
