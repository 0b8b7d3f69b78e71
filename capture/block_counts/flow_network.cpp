#include "capture/block_counts/flow_network.hpp"

namespace rayreplay::block_counts {

FlowNetwork::FlowNetwork(const spirv::ControlFlow& flow, const std::vector<bool>& may_end) {
  const auto blocks = static_cast<Node>(flow.graph.size());
  const std::uint32_t outside = 2 * blocks;
  places = outside + 1;
  if (blocks == 0) {
    return;
  }
  const auto start = [](Node block) { return 2 * block; };
  const auto end = [](Node block) { return 2 * block + 1; };
  arcs.push_back({Arc::Kind::Call, kNoNode, 0, outside, start(0)});
  for (Node block = 0; block < blocks; ++block) {
    if (!flow.reached(block)) {
      continue;
    }
    arcs.push_back({Arc::Kind::Block, block, block, start(block), end(block)});
    const std::vector<Node>& next = flow.graph.successors[block];
    for (const Node to : next) {
      arcs.push_back({Arc::Kind::Edge, block, to, end(block), start(to)});
    }
    if (next.empty() || may_end[block]) {
      arcs.push_back({Arc::Kind::End, block, kNoNode, end(block), outside});
    }
  }
}

}  // namespace rayreplay::block_counts
