// Node order treelet: small connected groups of nodes that rays tend to visit together.
//
// Contract: node_order.hpp. A treelet starts with its root and grows by the unit (node, or group of siblings) with the
// largest surface among those directly below it, oldest first on ties, until that unit does not fit into `nodes` nodes.
// Nodes are in the order of their addition. The units below a full treelet start treelets of their own, largest surface
// first, after all waiting treelets. A group of siblings larger than a treelet is one alone. The surface of a group is
// that of the box around it. O(nodes · log nodes).
#include <deque>
#include <queue>

#include "base/declare_parameters.hpp"
#include "bvh/node_order.hpp"
#include "bvh/orders/units.hpp"

namespace rayreplay::bvh {
namespace {

std::vector<Box> node_boxes(const Tree& tree) {
  std::vector<Box> boxes(tree.nodes.size());
  if (!tree.empty()) {
    boxes[0] = tree.bounds;
  }
  for (const TreeChild& child : tree.children) {
    if (!child.is_leaf()) {
      boxes[child.index] = child.box;
    }
  }
  return boxes;
}

struct Candidate {
  double area = 0;
  std::uint64_t arrival = 0;
  std::uint32_t unit = 0;
  std::uint32_t nodes = 0;

  /// std::priority_queue returns the greatest.
  bool operator<(const Candidate& other) const {
    return area != other.area ? area < other.area : arrival > other.arrival;
  }
};

class Treelets {
 public:
  Treelets(const Tree& tree, const Units& units, std::size_t limit, Sequence& sequence)
      : units_(units), boxes_(node_boxes(tree)), limit_(limit), sequence_(sequence) {}

  void run(std::uint32_t root) {
    waiting_.push_back(root);
    while (!waiting_.empty()) {
      const std::uint32_t first = waiting_.front();
      waiting_.pop_front();
      grow(first);
    }
  }

 private:
  void grow(std::uint32_t root) {
    std::priority_queue<Candidate> below;
    std::size_t nodes = take(root, below);
    while (!below.empty() && nodes + below.top().nodes <= limit_) {
      const Candidate next = below.top();
      below.pop();
      nodes += take(next.unit, below);
    }
    for (; !below.empty(); below.pop()) {
      waiting_.push_back(below.top().unit);
    }
  }

  /// Places a unit and adds its children to the candidates; returns its number of nodes.
  std::size_t take(std::uint32_t unit, std::priority_queue<Candidate>& below) {
    sequence_.add(unit);
    units_.for_each_child(unit, [&](std::uint32_t child) { below.push(candidate(child)); });
    std::size_t nodes = 0;
    units_.for_each_node(unit, [&](std::uint32_t /*node*/) { ++nodes; });
    return nodes;
  }

  [[nodiscard]] Candidate candidate(std::uint32_t unit) {
    Box box;
    std::uint32_t nodes = 0;
    units_.for_each_node(unit, [&](std::uint32_t node) {
      box.extend(boxes_[node]);
      ++nodes;
    });
    return {half_area(box), arrivals_++, unit, nodes};
  }

  const Units& units_;
  std::vector<Box> boxes_;
  std::size_t limit_;
  Sequence& sequence_;
  std::uint64_t arrivals_ = 0;
  std::deque<std::uint32_t> waiting_;
};

class Treelet final : public NodeOrder {
 public:
  explicit Treelet(const Parameters& parameters) : nodes_(static_cast<std::size_t>(parameters.get_int("nodes"))) {}

  [[nodiscard]] std::vector<std::uint32_t> order(const Tree& tree, bool siblings_together) const override {
    const Units units(tree, siblings_together);
    Sequence sequence(tree, units);
    if (const auto root = units.root()) {
      Treelets(tree, units, nodes_, sequence).run(*root);
    }
    return sequence.take();
  }

 private:
  std::size_t nodes_;
};

const NodeOrders::Registrar kRegistrar(
    {.kind = {},
     .name = "treelet",
     .summary = "Connected groups of nodes, grown by surface area",
     .text = "A treelet grows from its root by the node with the largest surface among those that hang below it, until "
             "it is full; what hangs below then starts treelets of its own, largest first. A ray that enters a treelet "
             "is likely to visit much of it. Layouts that need siblings side by side grow by groups of siblings.",
     .source = "Aila and Karras 2010, section 4",
     .parameters = {declare::whole("nodes", 64, "nodes", "Size of a treelet.", 1, 1 << 24)}},
    [](const Parameters& parameters) { return std::make_unique<Treelet>(parameters); });

}  // namespace
}  // namespace rayreplay::bvh
