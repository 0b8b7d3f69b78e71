// Splay: exact reuse distances by a splay tree of lines in order of last access. The reference.
//
// Contract: online, one access at a time. A pool has one node a line, with the size of its subtree. A table finds the
// line's node; after splaying it to the root, its right subtree has the lines touched since. Amortised O(log lines) an
// access. Memory: 16 bytes a line and 4 to 48 for the table. Up to 2^32 − 2 lines, Resource beyond.
#include <array>
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
  static constexpr Index kNone = 0;  ///< nodes_[0]: the empty tree, size 0; its parent is written but never read

  struct Node {
    std::array<Index, 2> child{};  ///< earlier, later
    Index parent = kNone;
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
      nodes_.push_back({{root_, kNone}, kNone, nodes_[root_].size + 1});
      nodes_[root_].parent = node;
      root_ = node;
      return kInfinite;
    }
    if (node == root_) {  // the root is always the latest access
      return 0;
    }
    Node* const nodes = nodes_.data();
    splay(nodes, node, kNone);
    const Index later = nodes[node].child[1];
    const std::uint32_t distance = nodes[later].size;
    make_latest(nodes, node, later);
    return distance;
  }

  /// `node` is the root and not the latest: the earliest later node becomes the root of both halves.
  void make_latest(Node* nodes, Index node, Index later) {
    Index next = later;
    while (nodes[next].child[0] != kNone) {
      next = nodes[next].child[0];
    }
    splay(nodes, next, node);
    const Index earlier = nodes[node].child[0];
    nodes[next].child[0] = earlier;
    nodes[earlier].parent = next;
    nodes[next].size += nodes[earlier].size;
    nodes[node].child = {next, kNone};
    root_ = node;
  }

  /// Rotates `node` above its parent. No branches: the side is unpredictable.
  static void rotate(Node* nodes, Index node, Index parent) {
    Node& n = nodes[node];
    Node& p = nodes[parent];
    const unsigned side = p.child[1] == node ? 1 : 0;
    const Index above = p.parent;
    const Index middle = n.child[1 - side];
    const std::uint32_t whole = p.size;
    p.size = whole - n.size + nodes[middle].size;
    n.size = whole;
    p.child[side] = middle;
    nodes[middle].parent = parent;
    n.child[1 - side] = parent;
    p.parent = node;
    n.parent = above;
    if (above != kNone) {
      nodes[above].child[nodes[above].child[1] == parent ? 1 : 0] = node;
    }
  }

  /// Rotates until the parent of `node` is `top`.
  static void splay(Node* nodes, Index node, Index top) {
    for (;;) {
      const Index parent = nodes[node].parent;
      if (parent == top) {
        return;
      }
      const Index grandparent = nodes[parent].parent;
      if (grandparent == top) {
        rotate(nodes, node, parent);
        return;
      }
      const bool same_side = (nodes[parent].child[1] == node) == (nodes[grandparent].child[1] == parent);
      rotate(nodes, same_side ? parent : node, same_side ? grandparent : parent);
      rotate(nodes, node, same_side ? parent : grandparent);
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
