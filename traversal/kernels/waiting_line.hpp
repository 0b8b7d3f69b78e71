// Pending entries of a traversal ordered by a key, ties by arrival.
//
// Contract: a heap; `pop` gives the entry with the least key, of equal keys the earliest: the order depends only on
// keys and pushes. Empty after `clear`. O(log entries) a push or pop.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "traversal/kernels/pending_traversal.hpp"

namespace rayreplay::traversal {

template <class Key>
class WaitingLine {
 public:
  void clear() {
    heap_.clear();
    joined_ = 0;
  }
  void push(Key key, const Pending& pending) {
    heap_.push_back({key, joined_++, pending});
    std::ranges::push_heap(heap_, is_later);
  }
  [[nodiscard]] Pending pop() {
    std::ranges::pop_heap(heap_, is_later);
    const Pending next = heap_.back().pending;
    heap_.pop_back();
    return next;
  }
  [[nodiscard]] bool empty() const {
    return heap_.empty();
  }
  [[nodiscard]] std::size_t size() const {
    return heap_.size();
  }

 private:
  struct Waiting {
    Key key{};
    std::uint64_t joined = 0;
    Pending pending;
  };

  static bool is_later(const Waiting& a, const Waiting& b) {
    return a.key != b.key ? a.key > b.key : a.joined > b.joined;
  }

  std::vector<Waiting> heap_;
  std::uint64_t joined_ = 0;
};

}  // namespace rayreplay::traversal
