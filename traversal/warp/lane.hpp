// One lane of a warp: a ray's near-first stack traversal, cut into steps.
//
// Contract: a step is one node (read, its children tested, the met ones pushed) or one reference of a leaf: a
// primitive's test, or an instance whose record is read and which is entered if the ray meets it. Between steps the
// lane pops its next entry; entries beyond the current limit are skipped without cost. `wants_node` and `wants_leaf`
// say which step is possible; without speculation never both: the steps are then those of the scalar `near-first`
// traversal (kernels/stack_traversal.hpp), with the same nodes, boxes, tests, accesses and stack depth. With
// speculation a lane with a leaf may also take the top node of its stack, of the same level, before the leaf's
// references are done; that node is dropped if a hit of the leaf lies in front of it. A second leaf waits.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "traversal/kernels/search.hpp"
#include "traversal/kernels/stack_traversal.hpp"

namespace rayreplay::traversal {

template <class Kernel, class Observer>
class Lane {
 public:
  /// `stack_entries`: entries of the stack on chip; observers log accesses to the others.
  Lane(const bvh::Bvh& bvh, Kernel kernel, const Shaders* shaders, bool speculative, AccessRows* accesses,
       std::uint32_t stack_entries)
      : bvh_(&bvh),
        kernel_(kernel),
        speculative_(speculative),
        observer_(bvh, accesses),
        search_(bvh, shaders, observer_) {
    if constexpr (Observer::kLogsStack) {
      observer_.keep_on_chip(stack_entries);
    }
  }
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;
  ~Lane() = default;

  /// The ray must be traversable; `row`: its place among the rays.
  void begin(std::size_t row, const Ray& ray) {
    row_ = row;
    search_.begin(row, ray);
    stack_.clear();
    base_ = 0;
    leaf_ = {};
    suspended_ = {};
    has_node_ = false;
    in_instance_ = false;
    if (!bvh_->top.empty()) {
      push({search_.world().box.t_min, {0, 0, bvh::kNoBlock}});
    }
    settle();
  }

  [[nodiscard]] bool wants_node() const {
    return has_node_;
  }
  [[nodiscard]] bool wants_leaf() const {
    return leaf_.next < leaf_.place.count;
  }
  [[nodiscard]] std::size_t row() const {
    return row_;
  }
  [[nodiscard]] const Hit& hit() const {
    return search_.hit();
  }
  [[nodiscard]] const RayCounters& counters() const {
    return observer_.counters();
  }

  /// Returns the number of child boxes tested.
  unsigned step_node() {
    has_node_ = false;
    const std::uint32_t record = node_.place.index;
    const bvh::Level& now = level();
    observer_.node(nodes(), record);
    NodeMeeting meeting;
    const unsigned boxes = kernel_.meet(now, record, box_ray(), search_.limit(), meeting);
    observer_.boxes(boxes);
    std::array<std::uint8_t, bvh::kMaxWidth> slots{};
    const std::size_t count = order_slots(meeting, true, slots);
    for (std::size_t i = count; i-- > 0;) {
      push({meeting.entry[slots[i]], kernel_.child(now, record, slots[i])});
    }
    if (count > 0) {
      observer_.depth(stack_.size() - 1);
    }
    settle();
    return boxes;
  }

  /// Returns whether the lane entered the leaf by this step.
  bool step_leaf() {
    const bool enters = leaf_.next == 0;
    if (enters) {
      observer_.leaf(nodes(), leaf_.place);
    }
    const std::uint32_t reference = level().references[leaf_.place.index + leaf_.next++];
    if (in_instance_) {
      search_.test(visit_, reference);
    } else if (search_.enter(reference, visit_)) {
      in_instance_ = true;
      suspended_ = leaf_;
      suspended_node_ = node_;
      had_node_ = has_node_;
      leaf_ = {};
      has_node_ = false;
      base_ = stack_.size();
      push({visit_.space.box.t_min, {0, 0, bvh::kNoBlock}});
    }
    settle();
    return enters;
  }

 private:
  struct Leaf {
    ChildPlace place;
    std::uint32_t next = 0;  ///< the next reference of the leaf to handle
  };

  [[nodiscard]] const bvh::Level& level() const {
    return in_instance_ ? bvh_->bottoms[visit_.blas] : bvh_->top;
  }
  [[nodiscard]] NodeArray nodes() const {
    return in_instance_ ? observer_.bottom_nodes(visit_.blas) : observer_.top_nodes();
  }
  [[nodiscard]] const bvh::BoxRay& box_ray() const {
    return in_instance_ ? visit_.space.box : search_.world().box;
  }

  void push(const StackEntry& entry) {
    if constexpr (Observer::kLogsStack) {
      observer_.push(stack_.size());
    }
    stack_.push_back(entry);
  }

  void finish() {
    stack_.clear();
    leaf_ = {};
    has_node_ = false;
  }

  /// Finds the lane's next possible steps.
  void settle() {
    while (true) {
      if (search_.done()) {
        return finish();
      }
      if (has_node_ && node_.entry > search_.limit()) {
        has_node_ = false;
      }
      take();
      if (wants_node() || wants_leaf() || !in_instance_) {
        return;
      }
      // The instance is finished: back to its leaf of the top level.
      in_instance_ = false;
      base_ = 0;
      leaf_ = suspended_;
      node_ = suspended_node_;
      has_node_ = had_node_;
    }
  }

  /// Pops entries of this level until one is a node or a leaf that the lane can hold.
  void take() {
    while (!has_node_ && stack_.size() > base_ && (speculative_ || !wants_leaf())) {
      const StackEntry top = stack_.back();
      const bool leaf = top.place.count > 0;
      if (top.entry <= search_.limit() && leaf && wants_leaf()) {
        return;
      }
      stack_.pop_back();
      if constexpr (Observer::kLogsStack) {
        observer_.pop(stack_.size());
      }
      if (top.entry > search_.limit()) {
        continue;
      }
      if (leaf) {
        leaf_ = {top.place, 0};
      } else {
        node_ = top;
        has_node_ = true;
      }
    }
  }

  const bvh::Bvh* bvh_;
  Kernel kernel_;
  bool speculative_;
  Observer observer_;
  Search<Observer> search_;
  InstanceVisit visit_;
  std::size_t row_ = 0;
  std::vector<StackEntry> stack_;  ///< both levels
  std::size_t base_ = 0;           ///< where this level's entries start
  Leaf leaf_;
  StackEntry node_;
  bool has_node_ = false;
  bool in_instance_ = false;
  Leaf suspended_;  ///< of the top level, while in an instance
  StackEntry suspended_node_;
  bool had_node_ = false;
};

}  // namespace rayreplay::traversal
