// Depth-first traversal with a full stack: near-first (sorted) or in the order of the slots.
//
// Contract: a node's met children are pushed in reverse order of visit: nearest entry first, ties by slot, or, not
// sorted, lowest slot first. Popped entries beyond the current limit are skipped. References of a leaf are handled in
// order; an instance is traversed to its end before the next one. Both levels share the stack: `stack_depth` is the
// largest number of entries that waited while another was visited.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "traversal/kernels/decode_kernel.hpp"
#include "traversal/kernels/search.hpp"

namespace rayreplay::traversal {

/// A waiting entry.
struct StackEntry {
  float entry = 0;
  ChildPlace place;
};

/// Slots of a mask in the order of visits. Returns their number.
[[nodiscard]] inline std::size_t order_slots(const NodeMeeting& meeting, bool sorted,
                                             std::array<std::uint8_t, bvh::kMaxWidth>& slots) {
  std::size_t count = 0;
  for (std::uint32_t mask = meeting.mask; mask != 0; mask &= mask - 1) {
    const auto slot = static_cast<std::uint8_t>(std::countr_zero(mask));
    std::size_t at = count++;
    for (; sorted && at > 0 && meeting.entry[slots[at - 1]] > meeting.entry[slot]; --at) {
      slots[at] = slots[at - 1];
    }
    slots[at] = slot;
  }
  return count;
}

template <class Kernel, class Observer, bool kSorted>
class StackTraversal {
 public:
  StackTraversal(const bvh::Bvh& bvh, Kernel kernel, const Shaders* shaders, Observer& observer)
      : bvh_(&bvh), kernel_(kernel), search_(bvh, shaders, observer) {}

  [[nodiscard]] Hit trace(std::size_t row, const Ray& ray) {
    search_.begin(row, ray);
    if (search_.done()) {
      return search_.hit();
    }
    const bvh::Level& top = bvh_->top;
    run(top, search_.observer().top_nodes(), search_.world().box, [&](const ChildPlace& leaf) {
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
    run(level, search_.observer().bottom_nodes(visit_.blas), visit_.space.box, [&](const ChildPlace& leaf) {
      for (std::uint32_t i = 0; i < leaf.count && !search_.done(); ++i) {
        search_.test(visit_, level.references[leaf.index + i]);
      }
    });
  }

  template <class OnLeaf>
  void run(const bvh::Level& level, const NodeArray& nodes, const bvh::BoxRay& ray, const OnLeaf& on_leaf) {
    const std::size_t base = stack_.size();
    Observer& observer = search_.observer();
    stack_.push_back({ray.t_min, {0, 0, bvh::kNoBlock}});
    while (stack_.size() > base) {
      const StackEntry next = stack_.back();
      stack_.pop_back();
      if (next.entry > search_.limit()) {
        continue;
      }
      if (next.place.count > 0) {
        observer.leaf(nodes, next.place);
        on_leaf(next.place);
        if (search_.done()) {
          stack_.resize(base);
        }
        continue;
      }
      observer.node(nodes, next.place.index);
      push_children(level, next.place.index, ray);
    }
  }

  void push_children(const bvh::Level& level, std::uint32_t record, const bvh::BoxRay& ray) {
    Observer& observer = search_.observer();
    NodeMeeting meeting;
    observer.boxes(kernel_.meet(level, record, ray, search_.limit(), meeting));
    std::array<std::uint8_t, bvh::kMaxWidth> slots{};
    const std::size_t count = order_slots(meeting, kSorted, slots);
    for (std::size_t i = count; i-- > 0;) {
      stack_.push_back({meeting.entry[slots[i]], kernel_.child(level, record, slots[i])});
    }
    if (count > 0) {
      observer.depth(stack_.size() - 1);
    }
  }

  const bvh::Bvh* bvh_;
  Kernel kernel_;
  Search<Observer> search_;
  InstanceVisit visit_;
  std::vector<StackEntry> stack_;
};

}  // namespace rayreplay::traversal
