#include "bvh/builders/build_record.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

#include <fmt/format.h>
#include <tbb/parallel_for.h>

#include "base/error.hpp"

namespace rayreplay::bvh {
namespace {

constexpr std::uint64_t kParallelNodes = 4096;

/// Where a subtree's rows begin.
struct Place {
  std::uint64_t node = 0;
  std::uint64_t child = 0;
  std::uint64_t reference = 0;
};

class Flattening {
 public:
  explicit Flattening(Tree& tree) : tree_(tree) {}

  void node(const BuildRecord& record, Place place) {
    tree_.nodes[place.node] = {static_cast<std::uint32_t>(place.child), record.count};
    // The node's own rows, then those of its subtrees.
    Place next{place.node + 1, place.child + record.count, place.reference};
    std::array<Place, 16> places;
    for (std::size_t i = 0; i < record.count; ++i) {
      const BuildRecord& child = *record.children()[i];
      TreeChild& row = tree_.children[place.child + i];
      row.box = child.box;
      places[i] = next;
      if (child.leaf) {
        row.index = static_cast<std::uint32_t>(next.reference);
        row.count = child.count;
        std::copy_n(child.leaf_references(), child.count, tree_.references.begin() + to_offset(next.reference));
      } else {
        row.index = static_cast<std::uint32_t>(next.node);
        next.node += child.nodes;
        next.child += child.nodes - 1 + child.leaves;
      }
      next.reference += child.references;
    }
    const auto descend = [&](std::size_t i) {
      if (!record.children()[i]->leaf) {
        node(*record.children()[i], places[i]);
      }
    };
    if (record.nodes > kParallelNodes) {
      tbb::parallel_for(std::size_t{0}, std::size_t{record.count}, descend);
    } else {
      for (std::size_t i = 0; i < record.count; ++i) {
        descend(i);
      }
    }
  }

 private:
  static std::ptrdiff_t to_offset(std::uint64_t place) {
    return static_cast<std::ptrdiff_t>(place);
  }

  Tree& tree_;
};

void require_32_bits(const char* what, std::uint64_t count) {
  if (count > 0xFFFF'FFFFU) {
    throw Error(ErrorKind::Resource, {fmt::format("the tree has too many {}", what), "", fmt::format("{}", count),
                                      "less than 2^32", "choose larger leaves or a builder without spatial splits"});
  }
}

}  // namespace

void BuildRecord::complete() {
  box = {};
  nodes = 1;
  leaves = 0;
  references = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const BuildRecord& child = *children()[i];
    box.extend(child.box);
    nodes += child.nodes;
    leaves += child.leaves;
    references += child.references;
  }
}

Tree flatten(const BuildRecord& root) {
  Tree tree;
  tree.bounds = root.box;
  if (root.leaf) {
    tree.nodes = {{0, 1}};
    tree.children = {{root.box, 0, root.count}};
    tree.references.assign(root.leaf_references(), root.leaf_references() + root.count);
    return tree;
  }
  require_32_bits("nodes", root.nodes);
  require_32_bits("children", root.nodes + root.leaves);
  require_32_bits("references", root.references);
  tree.nodes.resize(root.nodes);
  tree.children.resize(root.nodes - 1 + root.leaves);
  tree.references.resize(root.references);
  Flattening(tree).node(root, {});
  return tree;
}

}  // namespace rayreplay::bvh
