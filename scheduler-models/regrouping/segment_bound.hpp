// The fewest warp events that regrouping can need: the bound of MODELS.md §6, segment by segment (§7).
//
// Contract: round r holds the r-th segments of all threads that have so many. Σ over rounds and calls (kind, shader) of
// ceil(calls in the round / warp_size). It is a lower bound for every model whose warps hold segments of one round: all
// static models with the same cut. Warps of timed models (arrival full or timeout, bindless dispatch) mix rounds; their
// lower bound is that of one round (CutAt::Nothing), which is §6's bound. O(events) time, parallel; memory O(shaders ·
// rounds), at most 8 MB a worker where that is more. Exact.
#pragma once

#include <cstdint>
#include <vector>

#include "capture/trace/trace.hpp"
#include "scheduler-models/regrouping/segments.hpp"

namespace rayreplay::scheduler {

struct BoundSum {
  std::uint64_t warp_events = 0;
  std::uint64_t calls = 0;  ///< of threads
  bool operator==(const BoundSum&) const = default;
};

struct CallBound {
  trace::EventKind kind;
  std::uint16_t shader;
  BoundSum sum;
};

struct SegmentBound {
  BoundSum total;
  std::vector<CallBound> by_call;  ///< those that occur, by kind, then shader
  std::vector<BoundSum> by_round;  ///< as many as the longest thread has segments
  double efficiency = 0;           ///< total.calls / (warp_size · total.warp_events); 0 for a launch without calls
};

[[nodiscard]] SegmentBound segment_bound(const trace::Launch& launch, const std::vector<trace::Shader>& shaders,
                                         const Segments& segments, std::uint32_t warp_size);

}  // namespace rayreplay::scheduler
