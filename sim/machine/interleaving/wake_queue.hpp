// Wakes of an SM's warps: when they become ready, or end.
//
// Contract: a warp has at most one wake; wakes are taken by cycle, then slot. Most are added in the order of time (hits
// take one latency, misses return one after the other). So there are two queues in the order of time: a wake that is
// later than the last one of a queue is appended there, O(1). Others go to a heap, O(log wakes). Memory: 24 bytes a
// slot.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <functional>
#include <vector>

#include "sim/machine/interleaving/slot_set.hpp"

namespace rayreplay::machine {

class WakeQueue {
 public:
  static constexpr std::uint64_t kNever = ~std::uint64_t{0};

  explicit WakeQueue(std::uint32_t slots) : mask_(std::bit_ceil(slots) - 1) {
    for (Queue& queue : queues_) {
      queue.ring.resize(mask_ + 1);
    }
  }

  void add(std::uint64_t cycle, std::uint32_t slot) {
    const std::uint64_t wake = cycle << kSlotBits | slot;
    first_ = std::min(first_, wake);
    for (Queue& queue : queues_) {
      if (queue.head == queue.tail || queue.ring[(queue.tail - 1) & mask_] < wake) {
        queue.ring[queue.tail++ & mask_] = wake;
        return;
      }
    }
    heap_.push_back(wake);
    std::push_heap(heap_.begin(), heap_.end(), std::greater<>());
  }
  /// The cycle of the first wake; kNever if there is none.
  [[nodiscard]] std::uint64_t first() const {
    return first_ == kNone ? kNever : first_ >> kSlotBits;
  }
  /// Takes the first wake; its slot.
  std::uint32_t take() {
    const std::uint64_t taken = first_;
    first_ = kNone;
    for (Queue& queue : queues_) {
      if (queue.head != queue.tail && queue.ring[queue.head & mask_] == taken) {
        ++queue.head;
      }
      if (queue.head != queue.tail) {
        first_ = std::min(first_, queue.ring[queue.head & mask_]);
      }
    }
    if (!heap_.empty()) {
      if (heap_.front() == taken) {
        std::pop_heap(heap_.begin(), heap_.end(), std::greater<>());
        heap_.pop_back();
      }
      if (!heap_.empty()) {
        first_ = std::min(first_, heap_.front());
      }
    }
    return slot_of(taken);
  }
  /// Calls each(slot) for the slots with a wake before `cycle`, in any order.
  template <class Each>
  void each_before(std::uint64_t cycle, Each each) const {
    const auto look_at = [&](std::uint64_t wake) {
      if (wake >> kSlotBits < cycle) {
        each(slot_of(wake));
        return true;
      }
      return false;
    };
    for (const Queue& queue : queues_) {
      for (std::uint32_t at = queue.head; at != queue.tail && look_at(queue.ring[at & mask_]); ++at) {
      }
    }
    for (const std::uint64_t wake : heap_) {
      look_at(wake);
    }
  }

 private:
  static constexpr unsigned kSlotBits = 10;
  static_assert(SlotSet::kMax == 1U << kSlotBits);
  static constexpr std::uint64_t kNone = ~std::uint64_t{0};

  struct Queue {
    std::vector<std::uint64_t> ring;  ///< cycle and slot, ascending from head to tail
    std::uint32_t head = 0, tail = 0;
  };
  [[nodiscard]] static std::uint32_t slot_of(std::uint64_t wake) {
    return static_cast<std::uint32_t>(wake & ((1U << kSlotBits) - 1));
  }

  std::uint64_t first_ = kNone;
  std::uint32_t mask_;
  std::array<Queue, 2> queues_;
  std::vector<std::uint64_t> heap_;
};

}  // namespace rayreplay::machine
