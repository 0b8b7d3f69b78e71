// Traversal over one set of pending entries of both levels (instances, nodes, single primitives), in a policy's order.
//
// Contract: an entry has the distance at which the ray enters its box: for a child that of the layout; for an instance
// its world box; for a primitive its own tight box (a leaf's box says little about each of several primitives); without
// Bvh::own_boxes the leaf's box for both. Primitives whose own box is not met within [t_min, limit] are not tested, nor
// is anything entered beyond the limit. The policy has `start(row)`, `push(entry, instance)`, `pop()`, `empty()` and
// `size()`; `instance` is the one that the entry belongs to or opens, kTopLevel for the top level's nodes.
// `stack_depth` is the largest number of pending entries. A leaf is read when it is popped: its primitives then join
// the set. Reading a primitive's own box is neither access nor box test: ideal hardware would know it.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "traversal/kernels/decode_kernel.hpp"
#include "traversal/kernels/search.hpp"

namespace rayreplay::traversal {

inline constexpr std::uint32_t kTopLevel = 0xFFFF'FFFFU;

struct Pending {
  enum class Kind : std::uint8_t { Child, Instance, Primitive };

  float entry = 0;
  Kind kind = Kind::Child;
  std::uint32_t visit = kTopLevel;  ///< which instance visit it belongs to; an Instance: which one it opens
  ChildPlace place;                 ///< Primitive: index is its number
};

template <class Kernel, class Observer, class Policy>
class PendingTraversal {
 public:
  PendingTraversal(const bvh::Bvh& bvh, Kernel kernel, const Shaders* shaders, Observer& observer, Policy policy)
      : bvh_(&bvh), kernel_(kernel), search_(bvh, shaders, observer), pending_(policy) {}

  [[nodiscard]] Hit trace(std::size_t row, const Ray& ray) {
    search_.begin(row, ray);
    visits_.clear();
    pending_.start(row);
    push({ray.t_min, Pending::Kind::Child, kTopLevel, {0, 0, bvh::kNoBlock}});
    while (!pending_.empty() && !search_.done()) {
      const Pending next = pending_.pop();
      if (next.entry > search_.limit()) {
        continue;
      }
      switch (next.kind) {
        case Pending::Kind::Child:
          visit_child(next);
          break;
        case Pending::Kind::Instance:
          push({next.entry, Pending::Kind::Child, next.visit, {0, 0, bvh::kNoBlock}});
          break;
        case Pending::Kind::Primitive:
          search_.test(visits_[next.visit], next.place.index);
          break;
      }
    }
    return search_.hit();
  }

 private:
  void push(const Pending& entry) {
    pending_.push(entry, entry.visit == kTopLevel ? kTopLevel : visits_[entry.visit].instance);
    search_.observer().depth(pending_.size());
  }

  void visit_child(const Pending& next) {
    const bool top = next.visit == kTopLevel;
    const std::uint32_t blas = top ? 0 : visits_[next.visit].blas;
    const bvh::Level& level = top ? bvh_->top : bvh_->bottoms[blas];
    Observer& observer = search_.observer();
    const NodeArray nodes = top ? observer.top_nodes() : observer.bottom_nodes(blas);
    if (next.place.count == 0) {
      visit_node(next, level, nodes);
      return;
    }
    observer.leaf(nodes, next.place);
    for (std::uint32_t i = 0; i < next.place.count; ++i) {
      const std::uint32_t reference = level.references[next.place.index + i];
      if (top) {
        meet_instance(next, reference);
      } else {
        meet_primitive(next, reference);
      }
    }
  }

  void visit_node(const Pending& next, const bvh::Level& level, const NodeArray& nodes) {
    Observer& observer = search_.observer();
    observer.node(nodes, next.place.index);
    const bvh::BoxRay& ray = next.visit == kTopLevel ? search_.world().box : visits_[next.visit].space.box;
    NodeMeeting meeting;
    observer.boxes(kernel_.meet(level, next.place.index, ray, search_.limit(), meeting));
    for (std::uint32_t mask = meeting.mask; mask != 0; mask &= mask - 1) {
      const auto slot = static_cast<std::size_t>(std::countr_zero(mask));
      push({meeting.entry[slot], Pending::Kind::Child, next.visit, kernel_.child(level, next.place.index, slot)});
    }
  }

  void meet_instance(const Pending& leaf, std::uint32_t instance) {
    InstanceVisit visit;
    if (search_.enter(instance, visit)) {
      const float entry = bvh_->own_boxes ? visit.entry : leaf.entry;
      visits_.push_back(visit);
      push({entry, Pending::Kind::Instance, static_cast<std::uint32_t>(visits_.size() - 1), {}});
    }
  }

  void meet_primitive(const Pending& leaf, std::uint32_t number) {
    const bvh::BoxEntry entry =
        bvh_->own_boxes ? search_.enter_primitive(visits_[leaf.visit], number) : bvh::BoxEntry{true, leaf.entry};
    if (entry.met) {
      push({entry.entry, Pending::Kind::Primitive, leaf.visit, {number, 0, bvh::kNoBlock}});
    }
  }

  const bvh::Bvh* bvh_;
  Kernel kernel_;
  Search<Observer> search_;
  Policy pending_;
  std::vector<InstanceVisit> visits_;
};

}  // namespace rayreplay::traversal
