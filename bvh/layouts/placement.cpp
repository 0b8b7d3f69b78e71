#include "bvh/layouts/placement.hpp"

#include <span>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/memory.hpp"

namespace rayreplay::bvh {
namespace {

constexpr std::uint32_t kNowhere = 0xFFFF'FFFFU;
constexpr std::uint64_t kAskAbove = std::uint64_t{16}
                                    << 20U;  ///< bytes; for small levels the query takes longer than the allocation

[[noreturn]] void broken_order(const std::string& found, const std::string& expected) {
  throw Error(ErrorKind::Internal, {"a node order broke its contract", "", found, expected, ""});
}

void require_siblings(const Tree& tree, const std::vector<std::uint32_t>& place) {
  for (const TreeNode& node : tree.nodes) {
    std::uint32_t previous = kNowhere;
    for (const TreeChild& child : std::span(tree.children).subspan(node.first_child, node.child_count)) {
      if (child.is_leaf()) {
        continue;
      }
      if (previous != kNowhere && place[child.index] != previous + 1) {
        broken_order(fmt::format("siblings at {} and {}", previous, place[child.index]), "consecutive places");
      }
      previous = place[child.index];
    }
  }
}

}  // namespace

Placement place_nodes(const Tree& tree, const NodeOrder& order, bool siblings_together) {
  Placement result{order.order(tree, siblings_together), {}};
  const std::size_t nodes = tree.nodes.size();
  if (result.sequence.size() != nodes || (nodes > 0 && result.sequence.front() != 0)) {
    broken_order(fmt::format("{} places", result.sequence.size()), fmt::format("{}, the root first", nodes));
  }
  result.place.assign(nodes, kNowhere);
  for (std::size_t i = 0; i < nodes; ++i) {
    const std::uint32_t node = result.sequence[i];
    if (node >= nodes || result.place[node] != kNowhere) {
      broken_order(fmt::format("node {} at place {}", node, i), "every node once");
    }
    result.place[node] = static_cast<std::uint32_t>(i);
  }
  if (siblings_together) {
    require_siblings(tree, result.place);
  }
  return result;
}

void require_shape(const Tree& tree, const LayoutTraits& traits, const std::string& layout) {
  const auto refuse = [&](const char* what, std::uint32_t found, std::uint32_t most) {
    throw Error(ErrorKind::Internal, {what, layout, std::to_string(found), fmt::format("1 to {}", most), ""});
  };
  for (const TreeNode& node : tree.nodes) {
    if (node.child_count == 0 || node.child_count > traits.width) {
      refuse("a node's number of children does not fit the layout", node.child_count, traits.width);
    }
  }
  for (const TreeChild& child : tree.children) {
    if (child.count > traits.max_leaf) {
      refuse("a leaf's number of references does not fit the layout", child.count, traits.max_leaf);
    }
  }
}

Level new_level(const Tree& tree, std::uint32_t node_bytes, std::uint64_t records) {
  if (records >= kNowhere) {
    throw Error(ErrorKind::Resource, {"the acceleration structure has too many nodes", "", std::to_string(records),
                                      "fewer than 4294967295", "use larger leaves"});
  }
  if (records * node_bytes > kAskAbove) {
    require_memory(records * node_bytes, "the nodes of the acceleration structure do not fit into memory", "",
                   "use larger leaves or a smaller layout");
  }
  Level level;
  level.node_bytes = node_bytes;
  level.node_count = static_cast<std::uint32_t>(records);
  level.nodes.resize(records * node_bytes);
  level.bounds = tree.bounds;
  return level;
}

}  // namespace rayreplay::bvh
