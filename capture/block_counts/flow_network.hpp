// The flow of invocations through a function: what enters a block leaves it.
//
// A block is two places, its start and its end, with an arc between them that carries the block's count. The edges of
// the control-flow graph are arcs from ends to starts. One more place, the outside, closes the circuit: a call is an
// arc from it to the entry; an arc leads back to it from each block without successor, and from each block in which an
// invocation may end before its last instruction. At every place, what comes in goes out (Kirchhoff's law).
//
// Contract: blocks that the entry does not reach have no arcs. Arcs are in a fixed order: calls, then by block.
#pragma once

#include <cstdint>
#include <vector>

#include "capture/spirv/control_flow.hpp"

namespace rayreplay::block_counts {

using spirv::kNoNode;
using spirv::Node;

struct Arc {
  enum class Kind : std::uint8_t { Block, Edge, Call, End };
  Kind kind = Kind::Block;
  Node from = kNoNode, to = kNoNode;           ///< blocks; kNoNode: outside. Kind Block: both the block
  std::uint32_t from_place = 0, to_place = 0;  ///< numbers of places
};

struct FlowNetwork {
  std::vector<Arc> arcs;
  std::uint32_t places = 0;

  /// `may_end`, by block: an invocation may end inside it (invocation_ends.hpp).
  FlowNetwork(const spirv::ControlFlow& flow, const std::vector<bool>& may_end);
};

}  // namespace rayreplay::block_counts
