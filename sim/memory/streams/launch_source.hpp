// Memory accesses of a captured launch, by replaying its rays through a rebuilt structure (MODELS.md §10, §11).
//
// Contract: an item is a row of `warp_size` lanes, each with a segment of a thread (regrouping/segments.hpp) or none;
// whole threads are threads of one segment. A warp runs its segments ray by ray: the k-th rays that they begin,
// together.
//   1. Threads that come from a queue in memory load their entries (`queues`). Threads whose state moved into this warp
//      load it.
//   2. Threads with rays read the ray-generation record in their first segment. Then come the calls that belong to no
//      ray of the segment: callables before the thread's first trace call, and calls of rays that an earlier segment
//      began (its pending closest-hit or miss call).
//   3. The k-th rays: the payload is written at the thread's trace call. The warp traversal runs; every step gives one
//      instruction for each access of its active lanes (kind by kind, in the order node, instance, index, vertex, box,
//      stack entry pushed, popped; j-th access with j-th access). The shader calls of these rays in this segment
//      follow.
//   4. All lanes meet behind the last rays. Threads in their last segment write their pixel to the frame buffer, by one
//      instruction. Threads without rays write none.
//   5. Threads whose state moves on to another warp store it. Where warps form during the run (`formed`), it is not
//      known at the end of a segment whether the thread moves to another warp. With `stores_moved` the next warp
//      therefore stores the states of threads that moved, before it loads them. After the states, threads that go on
//      through a queue in memory append to it: the counter of each different queue is stored by the lowest of its
//      lanes, then the entries of all lanes. Items that form during the run append when they start, so their streams
//      have these accesses once they are completed (warp_source.hpp).
// Calls proceed in the order of their events (j-th call with j-th call of each lane): the shader record is read;
// any-hit, closest-hit and miss calls read the payload; the latter two write it. Intersection and any-hit calls come
// with the others, after the traversal (docs/assumptions.md). Persistent warp traversals have one resident warp an
// item, which fetches the k-th rays of its threads after the k−1-th. The schedule distributes work
// (sim/machine/work_distribution.hpp), so their `warps`, `queue` and `threshold` have no effect here.
//
// With `work` streams say what a warp does between its instructions (warp_work.hpp): the tests of traversal steps, rays
// that enter and leave the ray-tracing unit, and the instructions of shader calls, whose costs are options
// (call_work.hpp). The instructions that follow others are in step_instructions.hpp and item_instructions.hpp; the
// second and later pieces of an access that load_bytes cuts follow, too. Transactions are the same with and without
// `work`.
//
// Addresses: nodes, instances, indices, vertices and boxes as in bvh::MemoryMap. After them, aligned to 256 bytes:
// shader records (by region, index · record_bytes), payloads and traversal stacks as a GPU's local memory (at the
// thread's home, launch_memory.hpp, 4-byte words interleaved over lanes), frame buffer (thread · pixel_bytes), and the
// states of threads, at their homes; the queues, one after another, each from a boundary of 256 bytes on (place · entry
// bytes), and their counters of 4 bytes. Stack entries beyond the first `stack_entries` of a lane are spilled: a store
// of 8 bytes for a push, a load for a pop. All arrays are allocations of the table. Candidates for which shaders decide
// are answered as in the trace. Deterministic. Memory: structure, trace, 4 bytes a thread, 4 to 8 a segment, the
// requested items, and for each thread of the processor a chunk before coalescing: about 16 MiB, or one larger item
// (chunk_room.hpp). Errors: those of the structure and of the models; Missing if the trace has no scene or does not say
// which structure the launch used; Usage for options out of range.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/progress.hpp"
#include "bvh/bvh.hpp"
#include "capture/trace/trace.hpp"
#include "scheduler-models/regrouping/queue_places.hpp"
#include "scheduler-models/regrouping/segments.hpp"
#include "sim/memory/images/image_layout.hpp"
#include "sim/memory/streams/call_work.hpp"
#include "sim/memory/streams/chunk_room.hpp"
#include "sim/memory/streams/item_segments.hpp"
#include "sim/memory/streams/warp_source.hpp"
#include "traversal/warp_traversal.hpp"

namespace rayreplay::memory {

/// Bytes of a ray's payload where nothing says more (docs/assumptions.md).
inline constexpr std::uint32_t kAssumedPayload = 32;
/// The same of a pixel.
inline constexpr std::uint32_t kAssumedPixel = 16;

struct StreamOptions {
  std::string warp_traversal = "while-while";  ///< spec
  std::uint32_t warp_size = 32;
  std::uint32_t stack_entries = 0;                ///< of a lane, on chip; 0: all
  std::uint32_t payload_bytes = kAssumedPayload;  ///< of a ray, multiple of 4; 0: payloads stay in registers
  std::uint32_t record_bytes = 64;                ///< stride of shader records; 0: not read
  std::uint32_t pixel_bytes = kAssumedPixel;      ///< written to the frame buffer when a thread ends; 0: nothing
  std::uint32_t load_bytes = 0;  ///< limit of one lane's load by one instruction (16 for software traversal);
                                 ///< 0: any access, also of a node, is one instruction
  /// Streams have the recorded accesses of shaders, which the launch must have (recorded_accesses.hpp).
  bool shader_accesses = false;
  std::string image_layout = kAssumedImageLayout;  ///< spec of ImageLayouts, for recorded accesses of images
  /// A thread writes no pixel if its ray-generation shader stored to an image, or to a buffer and writes no images.
  bool stores_are_pixels = true;
  std::vector<std::uint8_t> writes_images{};  ///< by shader: 1 if it may write images; empty: none does
  CoalesceOptions coalescing;
  bool work = false;                              ///< streams have work
  std::vector<CallWork> call_work{};              ///< with `work`, by call: shader · trace::kEventKinds + kind
  std::shared_ptr<const LaneCosts> lane_costs{};  ///< of calls whose cost depends on the lanes; null: of none
  TellHolding holding;  ///< called during generation (chunk_room.hpp); `generate` passes its exceptions on
};

/// Sums over all items generated so far, each counted once.
struct SourceTally {
  std::uint64_t rays = 0;
  std::uint64_t ignored_rays = 0;      ///< cannot be traversed
  std::uint64_t unobserved = 0;        ///< candidates without a record in the trace
  std::uint64_t shader_accesses = 0;   ///< recorded accesses of shaders that touch memory, by lane
  std::uint64_t image_accesses = 0;    ///< of these, to images
  std::uint64_t nowhere_accesses = 0;  ///< recorded accesses to images that touch no memory (image_memory.hpp)
  std::uint64_t assumed_filters = 0;   ///< of the image accesses: samples whose filter is assumed to be linear
  std::uint64_t outside_samples = 0;   ///< of the image accesses: samples outside of [0, 1), where repeat is assumed
  std::uint64_t stored_pixels = 0;     ///< threads whose recorded stores stand for the assumed write of their pixel
};

class LaunchSource : public WarpSource {
 public:
  [[nodiscard]] virtual SourceTally tally() const = 0;
  [[nodiscard]] virtual std::string warp_traversal() const = 0;  ///< resolved spec
};

/// The work of a launch's warps. The arrays must outlive the source.
struct LaunchWork {
  const scheduler::Segments* segments = nullptr;
  std::span<const std::uint32_t> segment_at{};  ///< items · warp_size; scheduler::kNoSegment for empty lanes
  const ItemSegments* formed = nullptr;         ///< items form during the run: `segment_at` is empty
  std::span<const std::uint32_t> thread_at{};   ///< warps at launch · warp_size: homes; scheduler::kNoThread: none
  std::span<const std::uint8_t>
      loads_state{};              ///< by segment: 1 if its thread's state comes through memory; empty: none
  bool stores_moved = false;      ///< with `formed`: the states of threads that moved come through memory
  std::uint32_t state_bytes = 0;  ///< of a thread's state, multiple of 4
  const scheduler::QueuePlaces* queues = nullptr;  ///< null: no queues in memory. With `formed`, filled during the run

  [[nodiscard]] bool has_states() const {
    return state_bytes != 0 && (stores_moved || !loads_state.empty());
  }
};

/// Trace and structure must outlive the source.
[[nodiscard]] std::unique_ptr<LaunchSource> make_segment_source(const trace::Trace& trace, const trace::Launch& launch,
                                                                const bvh::Bvh& structure, const LaunchWork& work,
                                                                const StreamOptions& options);

/// Whole threads. `thread_at`: items · warp_size threads, scheduler::kNoThread for empty lanes.
[[nodiscard]] std::unique_ptr<LaunchSource> make_launch_source(const trace::Trace& trace, const trace::Launch& launch,
                                                               const bvh::Bvh& structure,
                                                               std::vector<std::uint32_t> thread_at,
                                                               const StreamOptions& options);

}  // namespace rayreplay::memory
