// Nodes and leaves while a tree is being built, before they have numbers; and their flattening into a Tree.
//
// Contract: a record knows its box and the sizes of its subtree, so that `flatten` can give every node its place before
// it is visited: depth-first order (node, then the subtrees of its inner children in child order), whatever the
// threads that made the records. A node's rows of `children` and a leaf's references follow the same order.
// O(nodes + references), parallel. Throws Resource when a count needs more than 32 bits.
#pragma once

#include <cstdint>

#include "bvh/tree.hpp"

namespace rayreplay::bvh {

struct BuildRecord {
  Box box;
  std::uint32_t count = 0;  ///< of a node's children or a leaf's references
  bool leaf = false;
  std::uint64_t nodes = 0;       ///< of the subtree, itself included
  std::uint64_t leaves = 0;      ///< of the subtree
  std::uint64_t references = 0;  ///< of the subtree

  /// Behind the record lie `count` of these.
  [[nodiscard]] BuildRecord** children() {
    return reinterpret_cast<BuildRecord**>(this + 1);
  }
  [[nodiscard]] BuildRecord* const* children() const {
    return reinterpret_cast<BuildRecord* const*>(this + 1);
  }
  /// Or these, in a leaf.
  [[nodiscard]] std::uint32_t* leaf_references() {
    return reinterpret_cast<std::uint32_t*>(this + 1);
  }
  [[nodiscard]] const std::uint32_t* leaf_references() const {
    return reinterpret_cast<const std::uint32_t*>(this + 1);
  }
  /// Box and sizes from the children, which are complete.
  void complete();
};

/// A root that is a leaf becomes the only child of a node.
[[nodiscard]] Tree flatten(const BuildRecord& root);

}  // namespace rayreplay::bvh
