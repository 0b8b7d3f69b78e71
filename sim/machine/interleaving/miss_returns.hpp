// When an SM's outstanding misses return.
//
// Contract: at most `most` at a time. One is held from when it is asked for; when it returns is said later (`add`, in
// the order of asking). Those that have returned are taken out only when room is needed. Most return one latency after
// they are asked for, of the L2 or of memory: these come in the order of time, and wait in a queue of each latency,
// O(1). The others, which wait for lines that were asked for earlier, go into a heap.
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
  enum class From : std::uint8_t { L2, Memory, Earlier };

  explicit MissReturns(std::uint32_t most) : most_(most) {}

  /// One is asked for, and may not return before `add` was called for it.
  void hold() {
    ++count_;
  }
  /// Whether another fits in this cycle.
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
  /// When the next that is held returns. From L2 and Memory: not before the one added last.
  void add(std::uint64_t returns, From from) {
    if (from == From::Earlier) {
      heap_.push_back(returns);
      std::push_heap(heap_.begin(), heap_.end(), std::greater<>());
    } else {
      queues_[static_cast<std::size_t>(from)].push(returns);
    }
  }
  /// The first to return of those of which it is known; 2^64 − 1: of none.
  [[nodiscard]] std::uint64_t first() const {
    const std::uint64_t queued = std::min(queues_[0].front(), queues_[1].front());
    return heap_.empty() ? queued : std::min(queued, heap_.front());
  }

 private:
  /// A ring that grows.
  class Queue {
   public:
    /// 2^64 − 1 where there is none.
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
