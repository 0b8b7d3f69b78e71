// Histograms of reuse distances by kind of data, collected by a cache and moved to its level's result. Internal to this
// folder.
//
// Contract: one histogram for each kind, or none if the answer needs none. O(kinds).
#pragma once

#include <vector>

#include "sim/memory/results/analysis.hpp"

namespace rayreplay::memory {

/// An empty histogram for each kind of data, if histograms by kind or by window are wanted; else none.
[[nodiscard]] inline std::vector<ReuseHistogram> wanted_distances(const HistogramParts& parts) {
  return std::vector<ReuseHistogram>(parts.kinds || parts.windows ? kDataKinds : 0);
}

/// Adds the histograms to the result's by kind and to that of its last window, as far as wanted, and empties them.
inline void move_distances(const HistogramParts& parts, std::vector<ReuseHistogram>& distances, LevelResult& result) {
  for (std::size_t kind = 0; kind < distances.size(); ++kind) {
    if (parts.kinds) {
      result.by_kind.resize(kDataKinds);
      result.by_kind[kind].merge(distances[kind]);
    }
    if (parts.windows) {
      result.by_window.back().merge(distances[kind]);
    }
    distances[kind] = {};
  }
}

}  // namespace rayreplay::memory
