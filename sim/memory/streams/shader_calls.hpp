// The shader calls of segments, and the record of the shader binding table that each one reads; and their trace calls.
//
// Contract: calls are the Intersection, AnyHit, Miss, ClosestHit and Callable events, in their order. Those of the rays
// that the segment begins are listed by ray; all others come first: of rays that an earlier segment of the thread
// began, and outside of rays (callables before the first trace call). Records are those of Vulkan. Hit group: the
// instance's hit_group_offset + the ray's sbt_offset + its sbt_stride · the geometry's number in its structure. Miss:
// the ray's miss_index. The trace does not have the record of a callable: the first record of the captured table with
// that shader is assumed, or the record with the shader's number. O(events of the segments).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "bvh/bvh.hpp"
#include "capture/trace/trace.hpp"
#include "sim/memory/streams/call_work.hpp"
#include "sim/memory/streams/launch_memory.hpp"
#include "sim/memory/streams/work_stage.hpp"

namespace rayreplay::memory {

/// Number of a call by shader and kind, as in machine::Costs.
[[nodiscard]] constexpr std::uint32_t call_number(std::uint16_t shader, trace::EventKind kind) {
  return shader * static_cast<std::uint32_t>(trace::kEventKinds) + static_cast<std::uint32_t>(kind);
}

/// The stage of a call of this kind; a trace call is of RayGeneration.
[[nodiscard]] constexpr WorkStage stage_of(trace::EventKind kind) {
  switch (kind) {
    case trace::EventKind::Intersection:
      return WorkStage::Intersection;
    case trace::EventKind::AnyHit:
      return WorkStage::AnyHit;
    case trace::EventKind::ClosestHit:
      return WorkStage::ClosestHit;
    case trace::EventKind::Miss:
      return WorkStage::Miss;
    case trace::EventKind::Callable:
      return WorkStage::Callable;
    default:
      return WorkStage::RayGeneration;
  }
}

struct ShaderCall {
  trace::EventKind kind = trace::EventKind::Miss;
  trace::TableRegion region = trace::TableRegion::Miss;
  std::uint32_t record = 0;  ///< of the region
  std::uint16_t shader = 0;
  std::uint64_t event = 0;  ///< row of the launch's events

  [[nodiscard]] std::uint32_t number() const {
    return call_number(shader, kind);
  }
  [[nodiscard]] bool reads_payload() const {
    return kind == trace::EventKind::AnyHit || writes_payload();
  }
  [[nodiscard]] bool writes_payload() const {
    return kind == trace::EventKind::ClosestHit || kind == trace::EventKind::Miss;
  }
};

/// A part of a thread: rows of events, and the rays that begin there.
struct CallRange {
  std::uint32_t thread = 0;
  std::uint64_t first_event = 0, last_event = 0;  ///< rows [first, last)
  std::uint64_t first_ray = 0;                    ///< in the thread; of those that begin in these rows
  std::uint64_t rays = 0;
};

/// For some ranges. Each has one place for its calls of other rays and outside of rays, then one for each of its rays.
struct ShaderCalls {
  std::vector<std::uint64_t> first;  ///< places + 1
  std::vector<ShaderCall> calls;
  std::vector<LaneCall> trace_call;  ///< by place: the call that begins its ray; unused for the first

  [[nodiscard]] std::span<const ShaderCall> of(std::uint64_t place) const {
    return std::span(calls).subspan(first[place], first[place + 1] - first[place]);
  }
};

class ShaderTable {
 public:
  ShaderTable(const trace::Trace& trace, const trace::Launch& launch, const bvh::Bvh& structure);

  [[nodiscard]] ShaderCalls calls(std::span<const CallRange> ranges) const;

 private:
  [[nodiscard]] ShaderCall call(std::uint64_t event, std::uint64_t ray) const;

  const trace::Launch* launch_;
  const bvh::Bvh* structure_;
  std::vector<std::uint32_t> callable_record_;  ///< by shader
};

}  // namespace rayreplay::memory
