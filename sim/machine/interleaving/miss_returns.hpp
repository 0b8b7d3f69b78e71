// When an SM's outstanding misses return.
//
// Contract: at most `most` at a time. Those that have returned are taken out only when room is needed: a heap that
// mostly gets later and later times costs O(1) to add to.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <vector>

namespace rayreplay::machine {

class MissReturns {
 public:
  explicit MissReturns(std::uint32_t most) : most_(most) {}

  /// Whether another fits in this cycle.
  [[nodiscard]] bool has_room(std::uint64_t cycle) {
    if (heap_.size() < most_) {
      return true;
    }
    while (!heap_.empty() && heap_.front() <= cycle) {
      std::pop_heap(heap_.begin(), heap_.end(), std::greater<>());
      heap_.pop_back();
    }
    return heap_.size() < most_;
  }
  void add(std::uint64_t returns) {
    heap_.push_back(returns);
    std::push_heap(heap_.begin(), heap_.end(), std::greater<>());
  }
  /// Of those that are outstanding.
  [[nodiscard]] std::uint64_t first() const {
    return heap_.front();
  }

 private:
  std::uint32_t most_;
  std::vector<std::uint64_t> heap_;
};

}  // namespace rayreplay::machine
