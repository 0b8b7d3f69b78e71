// The SIMT efficiency that the device itself reached, from the co-execution groups of a capture.
//
// Contract: a fragment is a group whose events are warp events: what the device ran as one call, active lanes being the
// bits of its lane mask (also of lanes that were not recorded). Efficiency = Σ lanes / (warp size · fragments).
// Hardware that does not reconverge after a trace call runs one call of a warp as several fragments, where the model
// counts one warp event; `united` puts such fragments together again: those of one warp with the same kind, shader and
// ordinal, in buffer order, as long as their lane masks are disjoint. A fragment's ordinal is the least over its lanes
// of (number of the ray in its thread; how many earlier calls of the same kind and shader that ray has): the bounce, in
// a loop). Fragments that belong to no launched warp (repacked) are not united. A group's kind is that of its first
// event in thread order; lanes of one trace call may differ between Begin and OcclusionBegin. Requires a sound launch.
// Empty if groups were not captured. Cost: one pass over the events, one sort of the groups.
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
