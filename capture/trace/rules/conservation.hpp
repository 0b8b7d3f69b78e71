// Whether a trace is complete: every ray has one end, or a reason for having none.
//
// Contract: `count_events` requires a trace without faults (validate.hpp: no ray has two ends). A ray of a Begin event
// ends with a Miss or a ClosestHit. It may have neither for one of these reasons, the first that holds: events of the
// launch were dropped; the launch uses hit objects, which need not be executed; the shader table was not captured; the
// table has a hit record without a closest-hit shader, or the ray's miss record has no shader. Without a reason the end
// is lost. A ray of an OcclusionBegin may end in a hit, which no shader sees. O(rays + events), parallel over threads.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "capture/trace/trace.hpp"

namespace rayreplay::trace {

/// Why a ray has no end.
enum class NoEnd : std::uint8_t { Dropped = 0, HitObject, TableUnknown, NoShader, Lost };
inline constexpr std::size_t kNoEnds = 5;
/// "dropped", "hit_object", "table_unknown", "no_shader", "lost".
[[nodiscard]] const char* to_string(NoEnd reason);

struct EventCounts {
  std::uint64_t threads = 0;
  std::uint64_t threads_with_events = 0;
  std::uint64_t rays = 0;
  std::array<std::uint64_t, kEventKinds> by_kind{};
  std::array<std::uint64_t, kNoEnds> no_end{};  ///< rays of Begin events without a Miss or ClosestHit, by reason

  [[nodiscard]] std::uint64_t without_end() const;
};

/// One for each launch.
[[nodiscard]] std::vector<EventCounts> count_events(const Trace& trace);

}  // namespace rayreplay::trace
