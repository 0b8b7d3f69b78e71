// Splay: exact reuse distances by a splay tree of lines in order of last access. The reference.
//
// Contract: online, one access at a time. Nodes are pooled, one a line, with the size of their subtree; the line's node
// is found by a table, splayed to the root, its right subtree is what was touched since. Amortised O(log lines) an
// access. Memory: 16 bytes a line and 4 to 48 for the table. Up to 2^32 − 2 lines, Resource beyond.
#include <algorithm>
#include <vector>

#include "base/error.hpp"
#include "sim/memory/reuse/engines/line_table.hpp"
#include "sim/memory/reuse/reuse_engine.hpp"

namespace rayreplay::memory {
namespace {

class SplayStack final : public ReuseStack {
 public:
  void distances(std::span<const std::uint64_t> lines, std::span<std::uint32_t> out) override {
    for (std::size_t i = 0; i < lines.size(); ++i) {
      out[i] = access(lines[i]);
    }
  }
  [[nodiscard]] std::uint64_t live_lines() const override {
    return nodes_.size() - 1;
  }
  [[nodiscard]] std::uint64_t memory_bytes() const override {
    return nodes_.capacity() * sizeof(Node) + table_.memory_bytes();
  }

 private:
  using Index = std::uint32_t;
  static constexpr Index kNone = 0;  ///< nodes_[0]: the empty tree, of size 0

  struct Node {
    Index left = kNone, right = kNone, parent = kNone;
    std::uint32_t size = 0;
  };

  std::uint32_t access(std::uint64_t line) {
    Index& node = table_.at(line);
    if (node == kNone) {
      if (nodes_.size() >= kNotSampled) {
        throw Error(ErrorKind::Resource, {"too many different lines for the reuse engine 'splay'", "", "2^32 − 2", "",
                                          "use larger lines or the engine 'sampled'"});
      }
      node = static_cast<Index>(nodes_.size());
      nodes_.push_back({root_, kNone, kNone, nodes_[root_].size + 1});
      if (root_ != kNone) {
        nodes_[root_].parent = node;
      }
      root_ = node;
      return kInfinite;
    }
    if (node == root_) {  // the root is always the latest
      return 0;
    }
    splay(node, kNone);
    const Index right = nodes_[node].right;
    const std::uint32_t distance = nodes_[right].size;
    make_latest(node, right);
    return distance;
  }

  /// `node` is the root and not the latest: the earliest of the others after it takes its place above those before it.
  void make_latest(Index node, Index right) {
    Index next = right;
    while (nodes_[next].left != kNone) {
      next = nodes_[next].left;
    }
    splay(next, node);
    const Index left = nodes_[node].left;
    nodes_[next].left = left;
    if (left != kNone) {
      nodes_[left].parent = next;
    }
    nodes_[next].size += nodes_[left].size;
    nodes_[next].parent = node;
    nodes_[node].left = next;
    nodes_[node].right = kNone;
    root_ = node;
  }

  void replace_child(Index parent, Index old_child, Index new_child) {
    if (parent != kNone) {
      (nodes_[parent].left == old_child ? nodes_[parent].left : nodes_[parent].right) = new_child;
    }
    nodes_[new_child].parent = parent;
  }

  /// `node` goes above its parent.
  void rotate(Index node, Index parent) {
    Node& n = nodes_[node];
    Node& p = nodes_[parent];
    const Index grandparent = p.parent;
    const std::uint32_t whole = p.size;
    Index middle = kNone;
    if (p.left == node) {
      middle = n.right;
      p.left = middle;
      n.right = parent;
    } else {
      middle = n.left;
      p.right = middle;
      n.left = parent;
    }
    if (middle != kNone) {
      nodes_[middle].parent = parent;
    }
    p.size = whole - n.size + nodes_[middle].size;
    n.size = whole;
    replace_child(grandparent, parent, node);
    p.parent = node;
  }

  /// Until the parent of `node` is `top`.
  void splay(Index node, Index top) {
    for (;;) {
      const Index parent = nodes_[node].parent;
      if (parent == top) {
        return;
      }
      const Index grandparent = nodes_[parent].parent;
      if (grandparent != top) {
        const bool same_side = (nodes_[parent].left == node) == (nodes_[grandparent].left == parent);
        rotate(same_side ? parent : node, same_side ? grandparent : parent);
        if (same_side) {
          rotate(node, parent);
          continue;
        }
        rotate(node, grandparent);
        continue;
      }
      rotate(node, parent);
    }
  }

  LineTable table_;
  std::vector<Node> nodes_ = std::vector<Node>(1);
  Index root_ = kNone;
};

class Splay final : public ReuseEngine {
 public:
  [[nodiscard]] std::unique_ptr<ReuseStack> make() const override {
    return std::make_unique<SplayStack>();
  }
};

const ReuseEngines::Registrar kRegistrar(
    {.kind = {},
     .name = "splay",
     .summary = "Exact, the reference: a splay tree of lines by last access",
     .text = "The line's node is splayed to the root; the size of its right subtree is the number of lines touched "
             "since. Online. Amortised O(log lines) an access, 16 bytes a line besides the table of lines.",
     .source =
         "Sleator and Tarjan, Journal of the ACM 1985; Sugumar and Abraham, SIGMETRICS 1993 (for reuse distances)",
     .parameters = {}},
    [](const Parameters&) { return std::make_unique<Splay>(); });

}  // namespace
}  // namespace rayreplay::memory
