// The steps of a warp traversal as memory instructions.
//
// Contract: accesses of one step are grouped by kind, in the order nodes, instances, indices, vertices, boxes, stack
// entries pushed, then popped. Within a kind, the j-th accesses of all lanes that have one are one instruction. (A
// lane's own accesses have that order in every step; others would follow in further rounds.) Leaf blocks that hold
// primitives are loads of kind instance, vertex or box (launch_memory.hpp); later tests of what they hold load nothing.
//
// Work, if the writer has it: a step's tests come after its instructions; those of a step without any come with the
// next ones. Its visits are the nodes and leaves that its lanes enter, boxes those of the nodes' children, triangles
// the references of leaves that its lanes take (triangles, boxes of primitives, instances; one a lane). Rays enter the
// ray-tracing unit before the warp's first step and leave it after the tests of the last one: all that take any step. A
// step's first instruction does not follow. Nor do a round's first vertices, which the index triples name, and the
// first triples or boxes after nodes, which are leaf blocks. All others follow: they need no data of this step.
#pragma once

#include <cstdint>
#include <span>

#include "sim/memory/streams/instruction_writer.hpp"
#include "sim/memory/streams/launch_memory.hpp"
#include "traversal/warp_traversal.hpp"

namespace rayreplay::memory {

/// The thread and lane of a ray, and the home of the thread's local memory (launch_memory.hpp).
struct RayOwner {
  std::uint8_t lane = 0;
  std::uint32_t thread = 0;
  std::uint32_t home = 0;
};

/// Local memory of all stacks.
struct StackMemory {
  std::uint64_t start = 0;
  std::uint32_t first_element = 0;
  std::uint32_t warp_size = 0;
  std::uint32_t entries = 0;  ///< of a lane
};

/// Writes the steps [first_step, last_step) of `traced`; `first_lane`: row of `traced.ray` of the first. Returns the
/// row after the last. `owners`: by ray.
std::uint64_t append_steps(const traversal::WarpTraceResult& traced, std::size_t first_step, std::size_t last_step,
                           std::uint64_t first_lane, std::span<const RayOwner> owners, const ElementFinder& elements,
                           const StackMemory& stack, InstructionWriter& out);

}  // namespace rayreplay::memory
