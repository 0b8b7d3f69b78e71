// Segments: the parts into which a scheduler model cuts the paths of threads (MODELS.md §7).
//
// Contract: a thread's warp events are cut at *reorder points*; the part between two points is a segment, which a lane
// runs without leaving its warp. Segments are numbered by thread, in order: thread t has segments [first[t], first[t +
// 1]), segment s the event rows [event_offset[s], event_offset[s + 1]). Code that replays threads thus replays
// segments. The *pending call* of a segment is its first warp event; a thread's first segment starts with its first
// event. A thread with events has at least one segment, others none. Rows are never omitted, doubled or reordered.
//
// Cuts: `PendingCall` cuts before ClosestHit and Miss (SER, wavefront, compaction). `EveryCall` cuts before every warp
// event at which a shader starts or resumes (bindless dispatch: each call and return): all except a trace call right
// after the entry (ClosestHit, Miss, Callable) of the shader that makes it and, with `inline_any_hit`, an AnyHit right
// after a ReportIntersection. `first_bounce`, `site` and `captured_only` leave some pending calls uncut. The bounce of
// an event is the index of its ray in the thread.
//
// O(events), parallel over threads, two passes; memory 8 + 2 bytes a segment and 4 a thread. Errors: Missing when
// `site` or `captured_only` needs data that the trace lacks (trace call sites; reorder calls); Resource above 2^32 − 2
// segments.
//
// With `accelerated` (of the same launch) a device cuts: the segments are copied to the CPU and also stay in device
// memory for later stages while a copy exists. Code that changes a column must reset `on_device`. Launches of 2^32 − 2
// events or more are cut on the CPU.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/twin.hpp"
#include "capture/trace/accelerated_launch.hpp"
#include "capture/trace/trace.hpp"

namespace rayreplay::scheduler {

inline constexpr std::uint32_t kNoSegment = 0xFFFF'FFFFU;

enum class CutAt : std::uint8_t { Nothing, PendingCall, EveryCall };

struct Cut {
  CutAt at = CutAt::Nothing;
  std::uint32_t first_bounce = 0;      ///< PendingCall: rays before this one of the thread are not cut
  std::optional<std::uint8_t> site{};  ///< PendingCall: only rays of this trace call
  bool captured_only = false;          ///< PendingCall: only rays for which the application made a reorder call
  bool inline_any_hit = false;         ///< EveryCall: any-hit shaders are part of the intersection shader that reports
};

struct Segments {
  trace::Column<std::uint64_t> event_offset;  ///< segments + 1
  trace::Column<std::uint32_t> first;         ///< threads + 1
  trace::Column<std::uint16_t>
      bounce;                          ///< by segment: index in the thread of the ray of its first event, at most 65535
  std::uint32_t most_of_a_thread = 0;  ///< = number of rounds
  DeviceCopy on_device{};              ///< the same columns in a device's memory; or null

  [[nodiscard]] std::size_t size() const {
    return bounce.size();
  }
};

[[nodiscard]] Segments cut_paths(const trace::Launch& launch, const Cut& cut,
                                 trace::AcceleratedLaunch* accelerated = nullptr);

inline constinit Twin<Segments(trace::AcceleratedLaunch*, const Cut&)> cut_paths_twin{"cut paths"};

/// The thread of every segment: 4 bytes each, for code that cannot use `first`.
[[nodiscard]] trace::Column<std::uint32_t> thread_of_segments(const Segments& segments);

}  // namespace rayreplay::scheduler
