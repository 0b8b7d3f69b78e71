// Is this trace sound? The rules of trace.hpp and the grammar of MODELS.md §2, checked.
//
// Contract: `check` throws rayreplay::Error (Input) at the first broken rule; `find_faults` lists up to `limit` of
// them. Both name dataset and row as the file has them. `notes` are things that are legal but worth knowing (rays with
// NaN, rays that ended in no shader). Complexity: O(rays + events), parallel over threads; the fault reported is the
// one with the lowest row, whatever the number of workers.
//
// Grammar of a ray's events (per ray; a Callable may stand anywhere outside traversal, a Reorder before the first ray
// and after the last event of one):
//   Begin          traversal* Reorder* (Miss | ClosestHit)?
//   OcclusionBegin traversal* Reorder* Miss?
//   traversal = Intersection (ReportIntersection (AnyHit (IgnoreIntersection | TerminateRay)?)?)*
//             | AnyHit (IgnoreIntersection | TerminateRay)?
// Where events name their rays, other rays' events may stand between those of one: with hit objects (SER) a ray's Miss
// or ClosestHit may come after further rays have begun.
// The call at the end is optional because a shader binding table may name no shader there.
// NaN policy: a ray's origin, direction, t_min, t_max may be anything the application passed (noted, never rejected);
// the t of Intersection, AnyHit, ClosestHit and of an accepted ReportIntersection must be a number; geometry may hold
// NaN (an inactive primitive in Vulkan; noted), transforms too.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "capture/trace/rules/conservation.hpp"
#include "capture/trace/trace.hpp"

namespace rayreplay::trace {

struct Findings {
  std::vector<ErrorInfo> faults;
  std::vector<std::string> notes;
  std::vector<EventCounts> counts;  ///< by launch, if there is no fault
};

/// `name` stands for the file in messages.
void check(const Trace& trace, const std::string& name);
/// Faults of rays, events and launch bindings alone, for a program that holds part of a launch: `launch.data` may be a
/// batch of threads (rows in the messages count from its first), `launch.size` must be as many threads. Requires sound
/// shaders and a sound scene. Of the groups only their number counts.
[[nodiscard]] std::vector<ErrorInfo> find_event_faults(const Launch& launch, const std::string& name,
                                                       const std::vector<Shader>& shaders, const Scene& scene,
                                                       std::size_t limit);
[[nodiscard]] Findings find_faults(const Trace& trace, const std::string& name, std::size_t limit);

}  // namespace rayreplay::trace
