// Where the threads that a branch separates meet again: joins, and loops that they leave at different times.
//
// A block is a join of a branch if two paths from different successors of the branch meet there first. Threads leave a
// loop around the branch at different times if some can go on to its header while others leave it.
//
// Contract: reducible graphs only. Linear in blocks and edges for one branch.
#pragma once

#include "capture/spirv/control_flow.hpp"

namespace rayreplay::spirv {

struct DivergentJoins {
  std::vector<Node> joins;           ///< in no order
  std::vector<std::uint32_t> loops;  ///< left at different times, inner before outer
};

class JoinFinder {
 public:
  explicit JoinFinder(const ControlFlow& flow);
  [[nodiscard]] DivergentJoins of(Node branch);
  /// Blocks outside a loop that its blocks branch to.
  [[nodiscard]] const std::vector<Node>& exits(std::uint32_t loop) const {
    return exits_[loop];
  }

 private:
  void place(Node target, Node label);
  void scan(std::size_t from);
  /// The loop right inside the scope that holds the block; kNoNode: the scope is the block's innermost loop.
  [[nodiscard]] std::uint32_t child_loop(Node block) const;
  /// Goes out to the loop around; false if no threads are separated there.
  bool leave_scope(DivergentJoins& found);

  const ControlFlow& flow_;
  std::vector<std::size_t> position_;     ///< by block: in `order`
  std::vector<std::vector<Node>> exits_;  ///< by loop
  std::uint32_t scope_ = kNoNode;         ///< the loop that is looked at; kNoNode: the function
  std::vector<Node> label_;               ///< by block; kNoNode: not reached from the branch
  std::vector<Node> labelled_;            ///< blocks with a label
  Node header_label_ = kNoNode;           ///< of threads that go on to the scope's header
  std::vector<Node> left_;                ///< reached blocks outside the scope
  std::vector<Node> joins_;
};

}  // namespace rayreplay::spirv
