// Schedules: which of a warp's lanes take the next step together.
//
// Contract: `choose(warp)` says what the warp executes next; a mask of 0 means that no lane wants anything. Schedules
// are small state machines, so that several warps can be executed in turns. Source: Aila and Laine, HPG 2009.
#pragma once

#include <cstdint>

#include "traversal/warp_traversal.hpp"

namespace rayreplay::traversal {

struct Choice {
  StepKind kind = StepKind::Node;
  std::uint64_t mask = 0;
};

/// All lanes search until each has a leaf or is done; then all test until none has anything left to test. Speculative:
/// lanes that have a leaf search on as long as others still need theirs.
class WhileWhile {
 public:
  explicit WhileWhile(bool speculative) : speculative_(speculative) {}

  template <class Warp>
  [[nodiscard]] Choice choose(const Warp& warp) {
    if (searching_) {
      const std::uint64_t without_leaf = speculative_ ? warp.nodes() & ~warp.leaves() : warp.nodes();
      if (without_leaf != 0) {
        return {StepKind::Node, warp.nodes()};
      }
      searching_ = false;
    }
    if (warp.leaves() != 0) {
      return {StepKind::Leaf, warp.leaves()};
    }
    searching_ = true;
    return {StepKind::Node, warp.nodes()};
  }
  /// Whether the loop is about to start over: a round of searching and testing has ended.
  template <class Warp>
  [[nodiscard]] bool at_start(const Warp& warp) const {
    return warp.leaves() == 0 && (!searching_ || warp.nodes() == 0);
  }

 private:
  bool speculative_;
  bool searching_ = true;
};

/// In turns one node for all lanes that need one, and one reference for all that have a leaf.
class IfIf {
 public:
  template <class Warp>
  [[nodiscard]] Choice choose(const Warp& warp) {
    for (int turn = 0; turn < 2; ++turn) {
      const bool node = node_is_next_;
      node_is_next_ = !node_is_next_;
      if (const std::uint64_t mask = node ? warp.nodes() : warp.leaves(); mask != 0) {
        return {node ? StepKind::Node : StepKind::Leaf, mask};
      }
    }
    return {};
  }

 private:
  bool node_is_next_ = true;
};

}  // namespace rayreplay::traversal
