#include "capture/spirv/divergent_joins.hpp"

#include <algorithm>

namespace rayreplay::spirv {

JoinFinder::JoinFinder(const ControlFlow& flow)
    : flow_(flow), position_(flow.graph.size(), 0), exits_(flow.loops.all.size()), label_(flow.graph.size(), kNoNode) {
  for (std::size_t i = 0; i < flow.order.size(); ++i) {
    position_[flow.order[i]] = i;
  }
  for (const Node block : flow.order) {
    for (const Node to : flow.graph.successors[block]) {
      for (std::uint32_t l = flow.loops.innermost[block]; l != kNoNode && !flow.loops.holds(l, to);
           l = flow.loops.all[l].parent) {
        exits_[l].push_back(to);
      }
    }
  }
  for (std::vector<Node>& exits : exits_) {
    std::sort(exits.begin(), exits.end());
    exits.erase(std::unique(exits.begin(), exits.end()), exits.end());
  }
}

void JoinFinder::place(Node target, Node label) {
  if (scope_ != kNoNode && flow_.loops.all[scope_].header == target) {
    if (header_label_ == kNoNode) {
      header_label_ = label;
    } else if (header_label_ != label) {
      header_label_ = target;
      joins_.push_back(target);
    }
    return;
  }
  if (label_[target] == kNoNode) {
    label_[target] = label;
    labelled_.push_back(target);
    if (scope_ != kNoNode && !flow_.loops.holds(scope_, target)) {
      left_.push_back(target);
    }
  } else if (label_[target] != label && label_[target] != target) {
    label_[target] = target;
    joins_.push_back(target);
  }
}

std::uint32_t JoinFinder::child_loop(Node block) const {
  std::uint32_t child = kNoNode;
  for (std::uint32_t l = flow_.loops.innermost[block]; l != scope_; l = flow_.loops.all[l].parent) {
    child = l;
  }
  return child;
}

void JoinFinder::scan(std::size_t from) {
  for (std::size_t i = from; i < flow_.order.size(); ++i) {
    const Node block = flow_.order[i];
    if (label_[block] == kNoNode || (scope_ != kNoNode && !flow_.loops.holds(scope_, block))) {
      continue;
    }
    const Node label = label_[block];
    const std::uint32_t child = child_loop(block);
    if (child == kNoNode) {
      for (const Node to : flow_.graph.successors[block]) {
        place(to, label);
      }
    } else if (flow_.loops.all[child].header == block) {
      // The threads that enter a loop together leave it together, as far as this branch goes.
      for (const Node to : exits_[child]) {
        place(to, label);
      }
    }
  }
}

bool JoinFinder::leave_scope(DivergentJoins& found) {
  const std::uint32_t loop = scope_;
  const Node going_on = header_label_;
  std::vector<std::pair<Node, Node>> outside;  // block, label
  bool separated = false;
  for (const Node block : left_) {
    separated = separated || (going_on != kNoNode && label_[block] != going_on);
    outside.emplace_back(block, label_[block]);
  }
  if (going_on != kNoNode && !separated) {
    return false;  // together: all of them, whatever they do next
  }
  if (separated) {
    found.loops.push_back(loop);
    outside.clear();
    for (const Node block : exits_[loop]) {
      joins_.push_back(block);
      outside.emplace_back(block, block);
    }
  }
  scope_ = flow_.loops.all[loop].parent;
  header_label_ = kNoNode;
  left_.clear();
  for (const auto& [block, label] : outside) {
    label_[block] = kNoNode;
  }
  for (const auto& [block, label] : outside) {
    place(block, label);
  }
  return true;
}

DivergentJoins JoinFinder::of(Node branch) {
  DivergentJoins found;
  joins_.clear();
  left_.clear();
  header_label_ = kNoNode;
  scope_ = flow_.loops.innermost[branch];
  // Labels of the ways out of the branch are no block's number.
  auto way = static_cast<Node>(flow_.graph.size());
  for (const Node to : flow_.graph.successors[branch]) {
    place(to, way++);
  }
  scan(position_[branch] + 1);
  while (scope_ != kNoNode) {
    const std::uint32_t inner = scope_;
    if (!leave_scope(found)) {
      break;
    }
    // Labels inside the loop that was left say nothing outside.
    for (const Node block : labelled_) {
      if (flow_.loops.holds(inner, block)) {
        label_[block] = kNoNode;
      }
    }
    scan(position_[flow_.loops.all[inner].header] + 1);
  }
  for (const Node block : labelled_) {
    label_[block] = kNoNode;
  }
  labelled_.clear();
  std::sort(joins_.begin(), joins_.end());
  joins_.erase(std::unique(joins_.begin(), joins_.end()), joins_.end());
  found.joins = joins_;
  return found;
}

}  // namespace rayreplay::spirv
