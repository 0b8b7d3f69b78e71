// The segments and rays of some items, prepared for one call of the warp traversal. Internal to this folder.
//
// Contract: rays have two numbers: *places* in `observed`, ordered by thread, and *rows* in execution order: item by
// item, the k-th rays of its segments together. These k-th rays are a *group*. Deterministic. O(rays and events of the
// items). What the maker is given must outlive the maker.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "bvh/bvh.hpp"
#include "capture/trace/trace.hpp"
#include "scheduler-models/warp_assignment.hpp"
#include "sim/memory/streams/launch_source.hpp"
#include "sim/memory/streams/recorded_accesses.hpp"
#include "sim/memory/streams/segment_rays.hpp"
#include "sim/memory/streams/shader_calls.hpp"
#include "sim/memory/streams/step_instructions.hpp"
#include "traversal/observed.hpp"

namespace rayreplay::memory {

/// A lane whose thread has a later segment.
struct LaneGoingOn {
  std::uint32_t thread = 0;
  std::uint32_t next_segment = 0;
  std::uint8_t lane = 0;
};

struct LaunchChunk {
  /// A segment in its lane.
  struct Lane {
    std::uint32_t thread = 0;
    std::uint32_t segment = 0;
    std::uint32_t home = 0;
    std::uint8_t lane = 0;
    bool first = false, last = false;  ///< segment of its thread
    bool has_rays = false;             ///< the thread
    bool moved = false;                ///< the thread's state is stored and loaded when the warp starts
    std::uint64_t first_place = 0;
    std::uint64_t first_call = 0;  ///< place in `calls`
    std::uint64_t rays = 0;        ///< begun in the segment
    bool stores_pixel = false;     ///< the thread's last segment, and recorded stores stand for its pixel
  };

  std::vector<Lane> lanes;
  std::vector<std::size_t> first_lane;   ///< of items, one more at the end
  std::vector<std::size_t> first_group;  ///< of items, one more at the end
  std::vector<std::uint64_t> first_row;  ///< of groups, one more at the end
  std::vector<std::uint64_t> place;      ///< by row
  std::vector<RayOwner> owner;           ///< by row
  std::vector<traversal::Ray> rays;      ///< by row
  traversal::Observed observed;
  ShaderCalls calls;
  RecordedAccesses accesses;  ///< empty unless wanted

  [[nodiscard]] std::span<const Lane> lanes_of(std::size_t item) const {
    return std::span(lanes).subspan(first_lane[item], first_lane[item + 1] - first_lane[item]);
  }
  [[nodiscard]] bool has_groups(std::size_t item) const {
    return first_group[item] < first_group[item + 1];
  }
};

class ChunkMaker {
 public:
  /// `images`: those of recorded accesses, if these are wanted.
  ChunkMaker(const trace::Trace& trace, const trace::Launch& launch, const bvh::Bvh& structure, const LaunchWork& work,
             const StreamOptions& options, const ImageMemory* images);

  /// Null: recorded accesses are not wanted.
  [[nodiscard]] const AccessFinder* accesses() const {
    return accesses_ ? &*accesses_ : nullptr;
  }
  [[nodiscard]] std::uint64_t rays_of(std::uint32_t item) const;
  [[nodiscard]] LaunchChunk make(std::span<const std::uint32_t> items) const;
  /// The item's lanes whose threads have a later segment, lowest first.
  [[nodiscard]] std::vector<LaneGoingOn> going_on(std::uint32_t item) const;

 private:
  struct ItemLanes {
    std::array<std::uint32_t, scheduler::kMaxWarpSize> segment_at;  ///< scheduler::kNoSegment for empty lanes
    std::uint64_t moved = 0;
  };

  [[nodiscard]] ItemLanes lanes_of(std::uint32_t item) const;
  void add_lanes(const ItemLanes& lanes, LaunchChunk& chunk, std::vector<CallRange>& ranges) const;
  void observe_threads(LaunchChunk& chunk) const;

  const trace::Launch* launch_;
  LaunchWork work_;
  std::uint32_t warp_size_;
  ShaderTable table_;
  std::optional<AccessFinder> accesses_;  ///< empty: recorded accesses are not wanted
  SegmentRays rays_;
  bool stores_are_pixels_;
  std::vector<std::uint32_t> home_;  ///< by thread
};

}  // namespace rayreplay::memory
