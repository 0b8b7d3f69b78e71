// Shared by tests of workloads: segments in their order as a schedule, and each call of a launch as a class.
#pragma once

#include <cstdint>

#include "scheduler-models/regrouping/segment_schedule.hpp"
#include "sim/machine/work_counts.hpp"

namespace rayreplay::test {

/// The segments in their order, in warps of this size; the last warp may have places without one. No units: for
/// workloads.
inline scheduler::SegmentSchedule schedule_in_order(const scheduler::Segments& segments, std::uint32_t warp_size) {
  scheduler::SegmentSchedule schedule;
  schedule.warp_size = warp_size;
  for (std::uint32_t segment = 0; segment < segments.size(); ++segment) {
    schedule.segment_at.push_back(segment);
  }
  const std::size_t warps = (schedule.segment_at.size() + warp_size - 1) / warp_size;
  schedule.segment_at.resize(warps * warp_size, scheduler::kNoSegment);
  schedule.moved.assign(warps, 0);
  return schedule;
}

/// Each call of the launch is a class of its own.
inline machine::CallClasses classes_of(const trace::Launch& launch, std::size_t shaders) {
  machine::CallClasses classes;
  classes.of_call.assign(shaders * trace::kEventKinds, machine::kNoClass);
  const trace::Events& events = launch.data.events;
  for (std::size_t row = 0; row < events.size(); ++row) {
    const std::size_t call = events.shader[row] * trace::kEventKinds + static_cast<std::size_t>(events.kind[row]);
    if (trace::is_warp_event(events.kind[row]) && classes.of_call[call] == machine::kNoClass) {
      classes.of_call[call] = static_cast<std::uint32_t>(classes.calls.size());
      classes.calls.push_back(call);
    }
  }
  return classes;
}

}  // namespace rayreplay::test
