// Schedules: the lanes of a warp that take the next step together.
//
// Contract: `choose(warp)` gives the next step of the warp; a mask of 0 means that no lane has work. Schedules are
// small state machines, so that several warps can be executed in turns. Source: Aila and Laine, HPG 2009.
#pragma once

#include <cstdint>

#include "traversal/warp_traversal.hpp"

namespace rayreplay::traversal {

struct Choice {
  StepKind kind = StepKind::Node;
  std::uint64_t mask = 0;
};

/// All lanes search until each has a leaf or is finished; then all test until no leaf is left. Speculative: lanes with
/// a leaf search on while others need theirs.
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
  /// Whether a round of searching and testing has ended.
  template <class Warp>
  [[nodiscard]] bool at_start(const Warp& warp) const {
    return warp.leaves() == 0 && (!searching_ || warp.nodes() == 0);
  }

 private:
  bool speculative_;
  bool searching_ = true;
};

/// Alternates: one node for all lanes that need one, one reference for all lanes with a leaf.
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
