// Return times of an SM's outstanding misses.
//
// Contract: at most `most` misses are pending. `hold` reserves one; `add` gives its return time later, in the order of
// asking. Returned misses are removed only when room is needed. Most misses return a fixed latency after the L2 or DRAM
// has begun to serve them. Their return times are in order, in one queue for the L2 and one for DRAM: O(1). Misses that
// wait for lines requested earlier go to a heap.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

namespace rayreplay::machine {

class MissReturns {
 public:
  enum class From : std::uint8_t { L2, Dram, Earlier };

  explicit MissReturns(std::uint32_t most) : most_(most) {}

  /// Reserves a miss, which may not return before its `add`.
  void hold() {
    ++count_;
  }
  /// True if another miss fits in this cycle.
  [[nodiscard]] bool has_room(std::uint64_t cycle) {
    if (count_ < most_) {
      return true;
    }
    for (Queue& queue : queues_) {
      while (queue.front() <= cycle) {
        queue.pop();
        --count_;
      }
    }
    while (!heap_.empty() && heap_.front() <= cycle) {
      std::pop_heap(heap_.begin(), heap_.end(), std::greater<>());
      heap_.pop_back();
      --count_;
    }
    return count_ < most_;
  }
  /// Return time of the next pending miss. From L2 and Dram: not before the one added last.
  void add(std::uint64_t returns, From from) {
    if (from == From::Earlier) {
      heap_.push_back(returns);
      std::push_heap(heap_.begin(), heap_.end(), std::greater<>());
    } else {
      queues_[static_cast<std::size_t>(from)].push(returns);
    }
  }
  /// The first known return; 2^64 − 1: none known.
  [[nodiscard]] std::uint64_t first() const {
    const std::uint64_t queued = std::min(queues_[0].front(), queues_[1].front());
    return heap_.empty() ? queued : std::min(queued, heap_.front());
  }

 private:
  /// A growing ring buffer.
  class Queue {
   public:
    /// 2^64 − 1 if empty.
    [[nodiscard]] std::uint64_t front() const {
      return head_ == tail_ ? ~std::uint64_t{0} : ring_[head_ & mask_];
    }
    void pop() {
      ++head_;
    }
    void push(std::uint64_t value) {
      if (tail_ - head_ == ring_.size()) {
        grow();
      }
      ring_[tail_++ & mask_] = value;
    }

   private:
    void grow() {
      std::vector<std::uint64_t> larger(std::max<std::size_t>(ring_.size() * 2, 16));
      for (std::uint64_t i = head_; i != tail_; ++i) {
        larger[i - head_] = ring_[i & mask_];
      }
      tail_ -= head_;
      head_ = 0;
      ring_ = std::move(larger);
      mask_ = ring_.size() - 1;
    }

    std::vector<std::uint64_t> ring_;  ///< a power of two, or none
    std::uint64_t head_ = 0, tail_ = 0;
    std::uint64_t mask_ = 0;
  };

  std::uint32_t most_;
  std::uint32_t count_ = 0;
  std::array<Queue, 2> queues_;
  std::vector<std::uint64_t> heap_;
};

}  // namespace rayreplay::machine
