// Memory map of a launch: the structure's arrays as bvh::MemoryMap places them, then the arrays of its threads.
//
// Contract: `map_launch` makes an allocation for every non-empty array, by ascending address: "top nodes", "instances";
// for each bottom-level structure in use "blas 0 nodes" and, unless an earlier one has them, for each of its geometries
// "geometry 0 indices" and "geometry 0 vertices", or "geometry 0 boxes"; then, aligned to 256 bytes, "ray-generation
// records", "miss records", "hit records", "callable records", "payloads", "stacks", "frame buffer", "states",
// "queues", "queue counters", and with recorded accesses of shaders their buffers (shader_memory.hpp) and images
// (image_memory.hpp). Elements are nodes, instance records, triangles, vertices, boxes, shader records, pixels, and
// queues. Payloads, stacks and states are local memory: a warp of the launch has one block of each, which is one
// element. Its 4-byte words are interleaved over lanes: word w of lane l is at (w · warp size + l) · 4. A thread's
// *home* is its place at launch, warp · warp size + lane: its local memory stays there, whichever warp runs its later
// segments. A region of the shader binding table has as many records as the largest index that the trace contains or
// that its rays, instances and geometries can reach. Leaf blocks that hold primitives are records of the nodes' arrays;
// accesses to them count for what they hold, whose element is in the application's array (which traversals of such
// layouts do not read). A queue takes a multiple of 256 bytes. Errors: Resource for too many elements, and for queues
// of more than 2 GiB each.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bvh/bvh.hpp"
#include "capture/trace/trace.hpp"
#include "sim/memory/allocations.hpp"
#include "sim/memory/streams/image_memory.hpp"
#include "sim/memory/streams/launch_source.hpp"
#include "sim/memory/streams/shader_memory.hpp"

namespace rayreplay::memory {

inline constexpr std::uint32_t kLocalWord = 4;
inline constexpr std::uint32_t kCounterBytes = 4;

/// An array; kNoElement and 0 records for a missing one.
struct LaunchArray {
  std::uint64_t start = 0;
  std::uint64_t records = 0;
  std::uint32_t first_element = kNoElement;
};

struct LaunchMemory {
  Allocations allocations;
  LaunchArray ray_generation, miss, hit, callable;
  LaunchArray payloads, stacks, states;  ///< records: warps at launch
  LaunchArray frame_buffer;
  LaunchArray queues, queue_counters;   ///< records: queues
  std::uint64_t queue_stride = 0;       ///< bytes from one queue to the next
  std::uint32_t spilled_entries = 0;    ///< of a lane; the room in `stacks`
  std::optional<ShaderMemory> shaders;  ///< empty: recorded accesses are not wanted
  std::optional<ImageMemory> images;    ///< the same
};

/// For the work's warps at launch, of options.warp_size lanes.
[[nodiscard]] LaunchMemory map_launch(const trace::Trace& trace, const trace::Launch& launch, const bvh::Bvh& structure,
                                      const LaunchWork& work, const StreamOptions& options);

/// Maximum stack entries of a near-first traversal of the structure. O(nodes).
[[nodiscard]] std::uint32_t most_stack_entries(const bvh::Bvh& structure);

/// Finds the element of an address of the structure in constant time. The address must be in an allocation of it.
class ElementFinder {
 public:
  ElementFinder(const Allocations& allocations, const bvh::Bvh& structure);
  [[nodiscard]] std::uint32_t element(std::uint64_t address) const {
    const Row& row = rows_[row_of_page_[address / kPage]];
    const std::uint64_t offset = address - row.start;
    return row.first_element + static_cast<std::uint32_t>(static_cast<Wide>(offset) * row.factor >> 64U);
  }
  /// The element that an access to the address counts for: of a leaf block that holds primitives the instance, the box,
  /// or the (first) triangle that it holds; else `element`.
  [[nodiscard]] std::uint32_t counted(std::uint64_t address) const {
    const std::uint32_t at = element(address);
    return counted_.empty() ? at : counted_[at];
  }
  /// Leaf blocks hold primitives (bvh/layout.hpp): no access to vertices belongs to an index triple.
  [[nodiscard]] bool holds_primitives() const {
    return !counted_.empty();
  }

 private:
  __extension__ using Wide = unsigned __int128;
  static constexpr std::uint64_t kPage = 256;  // alignment of arrays
  struct Row {
    std::uint64_t start = 0;
    std::uint64_t factor = 0;  ///< floor(2^64 / element bytes) + 1: exact for offsets below 2^64 / element bytes
    std::uint32_t first_element = 0;
  };
  void count_leaves(const bvh::Bvh& structure, std::uint32_t blas);

  std::vector<Row> rows_;
  std::vector<std::uint32_t> row_of_page_;
  std::vector<std::uint32_t> counted_;  ///< by element of the structure; empty: leaf blocks hold no primitives
};

}  // namespace rayreplay::memory
