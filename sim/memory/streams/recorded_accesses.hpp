// The recorded accesses of segments, by the shader call that made them.
//
// Contract: an access lies between two events of its thread. It belongs to the last shader call before it
// (Intersection, AnyHit, Miss, ClosestHit, Callable) of the shader that made it, if this call lies in the segment and
// no trace call stands between them. All others are of *code around calls*: of the ray-generation shader, and of a
// shader that goes on after its own trace call. They belong to the segment's next trace call, before which they ran.
// After the last one, those of ray generation are of the segment's *finish*, and those of other shaders lie behind its
// last ray. In a segment without trace calls, the accesses of ray generation before the thread's first event are of its
// *entry*. An access between the last event of a segment and the first one of the thread's next segment is of the later
// one, if that begins with a trace call of the access's shader and the event before is no call of this shader: the
// shader had been resumed. Otherwise it is of the earlier one. Every access of a thread with events belongs to exactly
// one place, in the order in which they were made. Accesses of shader records are left out (shader_memory.hpp).
// O(accesses and events of the segments).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "capture/trace/trace.hpp"
#include "sim/memory/streams/image_memory.hpp"
#include "sim/memory/streams/launch_source.hpp"
#include "sim/memory/streams/shader_calls.hpp"

namespace rayreplay::memory {

/// Rows of the launch's accesses, list by list.
struct AccessLists {
  std::vector<std::uint64_t> first;  ///< lists + 1
  std::vector<std::uint64_t> rows;

  [[nodiscard]] std::span<const std::uint64_t> of(std::uint64_t list) const {
    return first.empty() ? std::span<const std::uint64_t>()
                         : std::span(rows).subspan(first[list], first[list + 1] - first[list]);
  }
};

/// For the ranges of `calls`, with the same numbers of calls and places.
struct RecordedAccesses {
  AccessLists calls;   ///< by call
  AccessLists around;  ///< by place: before the trace call of its ray; of a range's first place: behind its last ray
  AccessLists entry;   ///< by range
  AccessLists finish;  ///< by range
};

class AccessFinder {
 public:
  /// All but the last must outlive this object. `writes_images`, by shader: 1 if it may write images; empty: none does.
  AccessFinder(const trace::Trace& trace, const trace::Launch& launch, std::span<const std::uint8_t> writes_images,
               const ImageMemory& images);

  /// `calls`: those of the same ranges, which are whole segments.
  [[nodiscard]] RecordedAccesses find(std::span<const CallRange> ranges, const ShaderCalls& calls) const;
  /// Whether the thread's ray-generation shader has stored to an image, or to a buffer and writes no images: its stores
  /// are the thread's pixel. A store that touches no memory (image_memory.hpp) is none.
  [[nodiscard]] bool stores_result(std::uint32_t thread) const;
  /// Adds these rows of the launch's accesses to the tally.
  void count(std::span<const std::uint64_t> rows, SourceTally& tally) const;

 private:
  struct Found {
    std::uint64_t list = 0, row = 0;
  };
  struct Lists {
    std::vector<Found> calls, around, entry, finish;
  };

  [[nodiscard]] bool begins_later(std::uint64_t event, std::uint32_t site) const;
  void find_in(const CallRange& range, std::uint64_t number, std::uint64_t first_place, const ShaderCalls& calls,
               Lists& found) const;

  const trace::Launch* launch_;
  const trace::AccessSites* sites_;
  const ImageMemory* images_;
  std::vector<bool> of_ray_generation_;  ///< by site
  std::vector<bool>
      is_result_;  ///< by site: a store of ray generation to an image, or to a buffer and it writes no image
};

}  // namespace rayreplay::memory
