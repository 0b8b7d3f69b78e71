// The policies as steps of one warp (replayer.hpp defines them; policies/ describes them for users).
//
// Contract: `Steps<policy>` is the policy's state for one warp. `start` reads the queues before the first step. `step`
// makes one warp event and reports its mask and lane count to the observer, or returns false if no lane has events
// left. The policies are a closed set of templates, not virtual functions: a step takes some tens of cycles, and an
// indirect call with its register spills would be a large part of that.
#pragma once

#include "sim/simt/kernel/bits.hpp"
#include "sim/simt/kernel/kernel.hpp"
#include "sim/simt/kernel/queues.hpp"

namespace rayreplay::simt::kernel::RAYREPLAY_SIMT_KERNEL {

/// The lanes at `slot`, or those of them in `among`, make their call.
template <class Code, class Observer>
[[gnu::always_inline]] inline std::uint64_t call(Queues<Code>& queues, unsigned slot, Observer& observer,
                                                 std::uint64_t among = ~std::uint64_t{0}) {
  const std::uint64_t lanes = queues.waiting().lanes(slot) & among;
  const unsigned count = size(lanes);
  observer.event(queues.waiting().code(slot), lanes, count);
  queues.pop(slot, lanes, count);
  return lanes;
}

template <Policy>
class Steps;

template <>
class Steps<Policy::StageMajority> {
 public:
  template <class Code>
  void start(const Queues<Code>&) {}

  template <class Code, class Observer>
  bool step(Queues<Code>& queues, Observer& observer) {
    const auto& waiting = queues.waiting();
    const std::uint64_t traversal = waiting.favoured();
    // A select without a branch, which would be unpredictable.
    std::uint64_t open = traversal | (waiting.occupied() & (static_cast<std::uint64_t>(traversal != 0) - 1));
    if (open == 0) {
      return false;
    }
    std::uint32_t best = 0;
    do {
      for (unsigned i = 0; i < kAtOnce; ++i) {
        const unsigned slot = lowest(open);
        const std::uint32_t key =
            size(waiting.lanes(slot)) << kLanesShift | (0xFFFFU ^ waiting.code(slot)) << kCodeShift | slot;
        best = key > best ? key : best;
        open = without_lowest(open);
      }
    } while (open != 0);
    call(queues, best & 0xFFU, observer);
    return true;
  }

 private:
  // A candidate's key is its number of lanes, then the complement of its code: the maximum has the most lanes and,
  // among equals, the lowest code. Codes ascend with shader, then kind. The lowest bits are the slot, to be extracted.
  static constexpr unsigned kCodeShift = 8;
  static constexpr unsigned kLanesShift = 24;
};

template <>
class Steps<Policy::MinShader> {
 public:
  template <class Code>
  void start(const Queues<Code>&) {}

  template <class Code, class Observer>
  bool step(Queues<Code>& queues, Observer& observer) {
    const unsigned slot = queues.waiting().first();
    if (slot == 64) {
      return false;
    }
    call(queues, slot, observer);
    return true;
  }
};

template <>
class Steps<Policy::OldestLane> {
 public:
  template <class Code>
  void start(const Queues<Code>& queues) {
    sets_[0] = ~queues.waiting().finished();
    count_ = sets_[0] != 0 ? 1 : 0;
  }

  template <class Code, class Observer>
  bool step(Queues<Code>& queues, Observer& observer) {
    if (count_ == 0) {
      return false;
    }
    const std::uint64_t lanes = call(queues, queues.slot_of_lane(lowest(sets_[0])), observer);
    unsigned kept = 0;
    for (unsigned i = 0; i < count_; ++i) {
      sets_[kept] = sets_[i] & ~lanes;
      kept += sets_[kept] != 0 ? 1 : 0;
    }
    sets_[kept] = lanes & ~queues.waiting().finished();
    count_ = kept + (sets_[kept] != 0 ? 1 : 0);
    return true;
  }

 private:
  std::uint64_t sets_[65];  ///< lanes with events left that popped together last; oldest first
  unsigned count_ = 0;
};

template <>
class Steps<Policy::Independent> {
 public:
  template <class Code>
  void start(const Queues<Code>& queues) {
    leaders_ = 0;
    stopped_ = 0;
    settle(queues, ~std::uint64_t{0});
  }

  template <class Code, class Observer>
  bool step(Queues<Code>& queues, Observer& observer) {
    if (leaders_ == 0) {
      if (stopped_ == 0) {
        return false;
      }
      add(stopped_);
      stopped_ = 0;
    }
    const unsigned leader = lowest(leaders_);
    const std::uint64_t group = group_[leader];
    leaders_ = without_lowest(leaders_);
    const std::uint64_t lanes = call(queues, queues.slot_of_lane(leader), observer, group);
    add(group & ~lanes);
    settle(queues, lanes);
    return true;
  }

 private:
  void add(std::uint64_t lanes) {
    if (lanes != 0) {
      group_[lowest(lanes)] = lanes;
      leaders_ |= lowest_bit(lanes);
    }
  }
  /// The lanes were one group: those at a trace call of ray generation stop, the others continue as a group.
  template <class Code>
  void settle(const Queues<Code>& queues, std::uint64_t lanes) {
    const auto& waiting = queues.waiting();
    std::uint64_t tracing = 0;
    for (std::uint64_t slots = waiting.favoured(); slots != 0; slots = without_lowest(slots)) {
      tracing |= waiting.lanes(lowest(slots));
    }
    stopped_ |= lanes & tracing;
    add(lanes & ~tracing & ~waiting.finished());
  }

  std::uint64_t group_[64];    ///< by its lowest lane
  std::uint64_t leaders_ = 0;  ///< the lowest lanes of the runnable groups
  std::uint64_t stopped_ = 0;  ///< lanes that wait in ray generation
};

}  // namespace rayreplay::simt::kernel::RAYREPLAY_SIMT_KERNEL
