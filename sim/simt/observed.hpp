// The SIMT efficiency that the device itself reached, from the co-execution groups of a capture.
//
// Contract: a fragment is a group whose events are warp events: calls that the device executed together. Its active
// lanes are the bits of its lane mask (including unrecorded lanes). Efficiency = Σ lanes / (warp size · fragments).
// Hardware that does not reconverge after a trace call runs one call of a warp as several fragments, where the model
// counts one warp event. `united` merges such fragments: those of one warp with the same kind, shader and ordinal, in
// buffer order, as long as their lane masks are disjoint. A fragment's ordinal is the minimum over its lanes of (number
// of the ray in its thread, that is the bounce in a loop; number of earlier calls of the same kind and shader in that
// ray). Fragments that belong to no launched warp (repacked) are not merged. A group's kind is that of its first event
// in thread order; lanes of one trace call may differ between Begin and OcclusionBegin. Requires a sound launch. Empty
// without captured groups. Cost: one pass over the events, one sort of the groups.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "capture/trace/trace.hpp"

namespace rayreplay::simt {

struct ObservedTally {
  std::uint64_t groups = 0;
  std::uint64_t lanes = 0;

  [[nodiscard]] double efficiency(std::uint32_t warp_size) const {
    return groups == 0 ? 0
                       : static_cast<double>(lanes) / (static_cast<double>(groups) * static_cast<double>(warp_size));
  }
  bool operator==(const ObservedTally&) const = default;
};

struct Observed {
  ObservedTally fragments, united;
  std::array<ObservedTally, trace::kEventKinds> fragments_by_kind{}, united_by_kind{};

  [[nodiscard]] bool empty() const {
    return fragments.groups == 0;
  }
};

[[nodiscard]] Observed observe(const trace::Launch& launch);

}  // namespace rayreplay::simt
