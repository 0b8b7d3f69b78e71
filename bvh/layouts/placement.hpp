// The first steps of every encoder: check the tree's shape, and place the nodes.
//
// Contract: `place_nodes` gets the sequence of the node order and checks node_order.hpp's promises; Internal if they
// are broken. `require_shape` throws Internal for a node without a child or with more than the layout takes, or a leaf
// with too many references, because builders know the limits. `new_level` allocates without writing; Resource if memory
// is short or records would need 2^32 − 1 numbers or more. `write_records` stores make(node, record) for every record,
// in parallel. `encode_nodes` does all of this for layouts whose records are the tree's nodes and whose references keep
// their order. `decode_slots` reads such a record, used slots first. O(nodes).
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include "bvh/layout.hpp"
#include "bvh/node_order.hpp"
#include "bvh/tree.hpp"

namespace rayreplay::bvh {

struct Placement {
  std::vector<std::uint32_t> sequence;  ///< the node at each place
  std::vector<std::uint32_t> place;     ///< of each node
};

[[nodiscard]] Placement place_nodes(const Tree& tree, const NodeOrder& order, bool siblings_together);

void require_shape(const Tree& tree, const LayoutTraits& traits, const std::string& layout);

/// Bounds and sizes filled in, references empty.
[[nodiscard]] Level new_level(const Tree& tree, std::uint32_t node_bytes, std::uint64_t records);

template <class Make>
void write_records(Level& level, const Placement& placement, const Make& make) {
  constexpr std::size_t kGrain = 2048;
  const std::size_t records = level.node_count;
  tbb::parallel_for(tbb::blocked_range<std::size_t>(0, records, kGrain), [&](const auto& range) {
    for (std::size_t record = range.begin(); record < range.end(); ++record) {
      const auto node = make(placement.sequence[record], static_cast<std::uint32_t>(record));
      std::memcpy(level.nodes.data() + record * sizeof(node), &node, sizeof(node));
    }
  });
}

/// make(tree, placement, node) gives a record.
template <class Make>
[[nodiscard]] Level encode_nodes(const Tree& tree, const NodeOrder& order, const LayoutTraits& traits,
                                 const std::string& layout, const Make& make) {
  require_shape(tree, traits, layout);
  const Placement placement = place_nodes(tree, order, traits.siblings_together);
  Level level = new_level(tree, traits.node_bytes, tree.nodes.size());
  level.references = tree.references;
  write_records(level, placement,
                [&](std::uint32_t node, std::uint32_t /*record*/) { return make(tree, placement, node); });
  return level;
}

template <std::size_t W, class Node>
[[nodiscard]] std::size_t decode_slots(const Node& node, std::span<ChildView, kMaxWidth> children) {
  std::size_t slot = 0;
  for (; slot < W && node.used(slot); ++slot) {
    children[slot] = node.child(slot);
  }
  return slot;
}

}  // namespace rayreplay::bvh
