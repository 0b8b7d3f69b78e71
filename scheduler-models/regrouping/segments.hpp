// Segments: the pieces into which a scheduler model cuts the paths of threads (MODELS.md §7).
//
// Contract: a thread's warp events are cut at *reorder points*; what lies between two is one segment, which a lane runs
// without leaving its warp. Segments are numbered thread by thread, in order: thread t has segments
// [first[t], first[t + 1]), segment s the event rows [event_offset[s], event_offset[s + 1]). So a launch's segments
// look like the threads of a launch with more of them, and whatever replays threads replays segments. The event at
// which a segment opens, the *pending call*, is its first warp event; a thread's first segment opens with its first
// event. Every thread with events has at least one segment, one without has none. Rows are never left out, doubled or
// reordered.
//
// Cuts: `PendingCall` cuts before ClosestHit and Miss (SER, wavefront, compaction); `EveryCall` before every
// warp event at which a shader starts anew (bindless dispatch: each call and each return); that is every one but a
// trace call right after the entry (ClosestHit, Miss, Callable) of the shader that makes it, which goes on, and, with
// `inline_any_hit`, an AnyHit right after a ReportIntersection. `first_bounce`, `site` and `captured_only` leave
// pending calls uncut: their threads run on in their warp. The bounce of an event is the index of its ray in the
// thread.
//
// O(events), parallel over threads, two passes; memory 8 + 2 bytes a segment and 4 a thread. Errors: Missing when
// `site` or `captured_only` asks for what the trace lacks (trace call sites; reorder calls); Resource above 2^32 − 2
// segments.
//
// With `accelerated`, which is of the launch, a device cuts: the segments are brought to the processor, too, and stay
// in the device's memory as long as a copy of them lives, for the stages that follow. Code that changes a column must
// reset `on_device`. Launches of 2^32 − 2 events or more are cut on the processor.
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

/// The thread of every segment: 4 bytes each, for those who cannot go by `first`.
[[nodiscard]] trace::Column<std::uint32_t> thread_of_segments(const Segments& segments);

}  // namespace rayreplay::scheduler
