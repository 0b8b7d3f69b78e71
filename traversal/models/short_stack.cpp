// Short-stack traversal: near-first with a stack of few entries, and restarts from the root when the stack runs empty.
//
// Contract: the restart trail of Laine 2010, for wide nodes as in Vaidyanathan and others 2019. For each level of the
// path from the root the trail counts the finished children of the node, in the order of near-first, and marks whether
// the current one is the last. The stack holds the `entries` deepest waiting children; a full stack drops its oldest.
// When the stack is empty and the trail has waiting children, the traversal restarts at the root and follows the trail.
// A shrinking limit removes children only from the end of a node's order, so the counts stay valid. Primitives are
// tested in the order of near-first; nodes on the way of a restart are read and tested again. Each level of a two-level
// structure has its own stack and trail; a restart goes to the root of the current level.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/declare_parameters.hpp"
#include "traversal/kernels/batch.hpp"
#include "traversal/kernels/decode_kernel.hpp"
#include "traversal/kernels/search.hpp"
#include "traversal/kernels/stack_traversal.hpp"

namespace rayreplay::traversal {
namespace {

/// Stack and trail of one level of the structure.
class Trail {
 public:
  struct Waiting {
    StackEntry entry;
    bool last = false;  ///< of its node's children
  };

  explicit Trail(std::size_t entries) : ring_(entries) {}

  void start() {
    path_.clear();
    depth_ = 0;
    held_ = 0;
  }
  /// Returns to the root, keeping the path.
  void restart() {
    depth_ = 0;
  }
  /// Finished children of the current node.
  [[nodiscard]] std::size_t done_here() {
    if (depth_ == path_.size()) {
      path_.push_back({});
    }
    return path_[depth_].done;
  }
  void descend(bool into_last) {
    path_[depth_++].in_last = into_last;
  }
  void push(const Waiting& waiting) {
    top_ = (top_ + 1) % ring_.size();
    ring_[top_] = waiting;
    held_ = std::min(held_ + 1, ring_.size());
  }
  /// Advances to the next waiting child on the path: false if there is none.
  [[nodiscard]] bool advance() {
    path_.resize(depth_);
    while (!path_.empty() && path_.back().in_last) {
      path_.pop_back();
    }
    depth_ = path_.size();
    if (path_.empty()) {
      return false;
    }
    ++path_.back().done;
    return true;
  }
  /// The child reached by `advance`, if the stack still holds it.
  [[nodiscard]] bool pop(StackEntry& entry) {
    if (held_ == 0) {
      return false;
    }
    const Waiting& waiting = ring_[top_];
    entry = waiting.entry;
    path_.back().in_last = waiting.last;
    top_ = (top_ + ring_.size() - 1) % ring_.size();
    --held_;
    return true;
  }
  [[nodiscard]] std::size_t held() const {
    return held_;
  }

 private:
  struct Step {
    std::uint8_t done = 0;
    bool in_last = false;
  };

  std::vector<Step> path_;
  std::size_t depth_ = 0;  ///< of the node that is looked at
  std::vector<Waiting> ring_;
  std::size_t top_ = 0;
  std::size_t held_ = 0;
};

template <class Kernel, class Observer>
class ShortStackTraversal {
 public:
  ShortStackTraversal(const bvh::Bvh& bvh, Kernel kernel, const Shaders* shaders, Observer& observer,
                      std::size_t entries)
      : bvh_(&bvh), kernel_(kernel), search_(bvh, shaders, observer), top_trail_(entries), bottom_trail_(entries) {}

  [[nodiscard]] Hit trace(std::size_t row, const Ray& ray) {
    search_.begin(row, ray);
    if (search_.done()) {
      return search_.hit();
    }
    const bvh::Level& top = bvh_->top;
    run(top, search_.observer().top_nodes(), search_.world().box, top_trail_, [&](const ChildPlace& leaf) {
      for (std::uint32_t i = 0; i < leaf.count && !search_.done(); ++i) {
        if (search_.enter(top.references[leaf.index + i], visit_)) {
          traverse_instance();
        }
      }
    });
    return search_.hit();
  }

 private:
  void traverse_instance() {
    const bvh::Level& level = bvh_->bottoms[visit_.blas];
    const NodeArray nodes = search_.observer().bottom_nodes(visit_.blas);
    run(level, nodes, visit_.space.box, bottom_trail_, [&](const ChildPlace& leaf) {
      for (std::uint32_t i = 0; i < leaf.count && !search_.done(); ++i) {
        search_.test(visit_, level.references[leaf.index + i]);
      }
    });
  }

  template <class OnLeaf>
  void run(const bvh::Level& level, const NodeArray& nodes, const bvh::BoxRay& ray, Trail& trail,
           const OnLeaf& on_leaf) {
    Observer& observer = search_.observer();
    const StackEntry root{ray.t_min, {0, 0, bvh::kNoBlock}};
    trail.start();
    StackEntry next = root;
    while (true) {
      if (next.entry <= search_.limit()) {
        if (next.place.count == 0) {
          observer.node(nodes, next.place.index);
          if (descend(level, ray, trail, next)) {
            continue;
          }
        } else {
          observer.leaf(nodes, next.place);
          on_leaf(next.place);
          if (search_.done()) {
            return;
          }
        }
      }
      if (!trail.advance()) {
        return;
      }
      if (!trail.pop(next)) {
        observer.restart();
        trail.restart();
        next = root;
      }
    }
  }

  /// Descends to the first unfinished child of a node; the rest waits. False if there is none.
  bool descend(const bvh::Level& level, const bvh::BoxRay& ray, Trail& trail, StackEntry& next) {
    Observer& observer = search_.observer();
    const std::uint32_t record = next.place.index;
    NodeMeeting meeting;
    observer.boxes(kernel_.meet(level, record, ray, search_.limit(), meeting));
    std::array<std::uint8_t, bvh::kMaxWidth> slots{};
    const std::size_t count = order_slots(meeting, true, slots);
    const std::size_t first = trail.done_here();
    if (first >= count) {
      return false;
    }
    const auto child = [&](std::size_t i) {
      return StackEntry{meeting.entry[slots[i]], kernel_.child(level, record, slots[i])};
    };
    for (std::size_t i = count; --i > first;) {
      trail.push({child(i), i + 1 == count});
    }
    observer.depth(top_trail_.held() + (&trail == &bottom_trail_ ? bottom_trail_.held() : 0));
    next = child(first);
    trail.descend(first + 1 == count);
    return true;
  }

  const bvh::Bvh* bvh_;
  Kernel kernel_;
  Search<Observer> search_;
  InstanceVisit visit_;
  Trail top_trail_;
  Trail bottom_trail_;
};

class ShortStack final : public Traversal {
 public:
  explicit ShortStack(std::size_t entries) : entries_(entries) {}

  [[nodiscard]] TraceResult trace_on_cpu(const bvh::Bvh& bvh, std::span<const Ray> rays,
                                         const TraceOptions& options) const override {
    return trace_batch(bvh, rays, options, [&]<class O>(O& observer) {
      return ShortStackTraversal<DecodeKernel, O>(bvh, DecodeKernel(*bvh.layout), options.shaders, observer, entries_);
    });
  }

 private:
  std::size_t entries_;
};

const Traversals::Registrar kRegistrar(
    {.kind = {},
     .name = "short-stack",
     .summary = "Near-first with a stack of few entries and a restart trail",
     .text = "A full stack drops its oldest entry. When the stack runs empty, the traversal restarts at the root and "
             "finds the dropped children by a trail that counts the finished children of each level. Tests the same "
             "primitives in the same order as near-first; reads more nodes, once for each restart.",
     .source = "Laine, \"Restart Trail for Stackless BVH Traversal\", HPG 2010; Vaidyanathan, Woop and Benthin, \"Wide "
               "BVH Traversal with a Short Stack\", HPG 2019",
     .parameters = {declare::whole("entries", 5, "", "Stack entries for each level of the structure.", 1, 1024)}},
    [](const Parameters& parameters) {
      return std::make_unique<ShortStack>(static_cast<std::size_t>(parameters.get_int("entries")));
    });

}  // namespace
}  // namespace rayreplay::traversal
