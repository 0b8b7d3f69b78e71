// A captured launch's memory accesses, made by replaying its rays through a rebuilt structure (MODELS.md §10, §11).
//
// Contract: an item is a row of `warp_size` places of `thread_at`. A warp runs its threads ray by ray: the k-th ray of
// every thread together. First every thread with rays reads the ray-generation record, and makes its calls of no ray
// (callables before its first trace call). For the k-th rays, in this order: the payload is written where the thread's
// trace call is; the warp traversal runs, every step of it giving one instruction for each access that its active lanes
// make (kind by kind, in the order node, instance, index, vertex, box, stack entry pushed, popped; j-th access with
// j-th access); then the shader calls of those rays in the order of their events (j-th call with j-th call of each
// lane): the shader record is read, the payload is read by any-hit, closest-hit and miss calls, and written back by the
// latter two. Intersection and any-hit calls of a ray come with the others, after the traversal (docs/assumptions.md).
// When a thread's last ray has ended its pixel is written to the frame buffer; threads without rays do nothing. A lane
// is the thread's place in its item throughout. Persistent warp traversals have one resident warp an item, which
// fetches the k-th rays of its threads when the k−1-th have ended: who takes which work is the schedule's affair
// (sim/machine/work_distribution.hpp), so their `warps`, `queue` and `threshold` change nothing here.
//
// Addresses: nodes, instances, indices, vertices and boxes as bvh::MemoryMap says; behind them, each on a boundary of
// 256 bytes: shader records (by region, index · record_bytes), payloads and traversal stacks as a GPU's local memory
// (one slot an item and lane; 4-byte words of a warp's lanes next to each other), frame buffer (thread · pixel_bytes).
// Stack entries beyond the first `stack_entries` of a lane are spilled: a store when pushed, a load when popped, 8
// bytes. All arrays are allocations of the table. Candidates that shaders decide on are answered as the trace recorded.
// Deterministic. Memory: structure, trace, the items asked for, and of each thread a
// chunk of them before it is coalesced: about 16 MiB, or one item where that takes more (chunk_room.hpp). Errors: those
// of the structure and of the models; Missing when the trace has no scene or does not say which structure the launch
// used; Usage for options out of range.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/progress.hpp"
#include "bvh/bvh.hpp"
#include "capture/trace/trace.hpp"
#include "sim/memory/streams/chunk_room.hpp"
#include "sim/memory/streams/warp_source.hpp"
#include "traversal/warp_traversal.hpp"

namespace rayreplay::memory {

struct StreamOptions {
  std::string warp_traversal = "while-while";  ///< spec
  std::uint32_t warp_size = 32;
  std::uint32_t stack_entries = 0;   ///< of a lane, kept on chip; 0: all
  std::uint32_t payload_bytes = 32;  ///< of a ray, multiple of 4; 0: payloads stay in registers
  std::uint32_t record_bytes = 64;   ///< stride of shader records; 0: not read
  std::uint32_t pixel_bytes = 16;    ///< written to the frame buffer when a thread ends; 0: nothing
  std::uint32_t load_bytes = 0;      ///< most bytes that a lane loads by one instruction (16 for software traversal);
                                     ///< 0: a node, or any other access, is one instruction
  CoalesceOptions coalescing;
  TellHolding holding;  ///< as items are generated (chunk_room.hpp); what it throws, `generate` throws
};

/// Sums over all items generated so far, each counted once.
struct SourceTally {
  std::uint64_t rays = 0;
  std::uint64_t ignored_rays = 0;  ///< cannot be traversed
  std::uint64_t unobserved = 0;    ///< candidates without a record in the trace
};

class LaunchSource : public WarpSource {
 public:
  [[nodiscard]] virtual SourceTally tally() const = 0;
  [[nodiscard]] virtual std::string warp_traversal() const = 0;  ///< resolved spec
};

/// `thread_at`: items · warp_size threads, scheduler::kNoThread for empty places. Trace and structure must outlive it.
[[nodiscard]] std::unique_ptr<LaunchSource> make_launch_source(const trace::Trace& trace, const trace::Launch& launch,
                                                               const bvh::Bvh& structure,
                                                               std::vector<std::uint32_t> thread_at,
                                                               const StreamOptions& options);

}  // namespace rayreplay::memory
