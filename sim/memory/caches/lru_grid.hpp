// Exact counts of LRU caches, with sectors and stores, over the same streams: all sets and ways of a grid at once.
//
// Contract: stream s is accesses [begins[s], begins[s + 1]). `counts[c][s]` equals the counts of
// make_set_associative(geometry c, policy), in every field. All geometries have the same line and sector size; `policy`
// is Lru.
//
// Method: caches with equal numbers of sets include each other (inclusion: Mattson et al., IBM Systems Journal 1970),
// so one pass with an LRU stack per set covers all ways. Sectors: a line stores for each sector the greatest depth at
// which the line was found since the sector's last touch. A cache of A ways holds the sector exactly if that depth and
// the current one are below A. Dirty sectors likewise, since the last store: the greatest depth m until the next store,
// or the end, is one writeback in all caches of at most m ways. An access that finds its line on top of the stack with
// all its sectors changes nothing, also for any multiple of that number of sets, so those passes skip it (trace
// stripping: Puzak, 1985). Numbers of sets form a tree by divisibility; batches of accesses run through it as a
// pipeline on all cores. Line numbers and the order of sector touches do not depend on the sets and are computed once.
// One set with more than kStackedWays ways uses distances of the reuse engine `bitmap`; several such sets run one cache
// at a time, over all cores.
//
// Stores with allocate=false break the inclusion. Those to lines without loads are counted alone. A stream with a line
// that is both loaded and stored to runs in exact_counts.hpp; so do streams with a line range of 2^32 or more, or as
// many accesses. `stacked` counts the other streams.
//
// An accelerator with a device runs exact_counts.hpp. Processor memory for each number of sets: 8 bytes a line of the
// stream (16 for write-back with 8 sectors), and 2 bytes for each of 32, 64, 128 or 256 stack entries a set (4 if 16
// bits distinguish neither the lines of a set nor those of the stream); also a table of lines and a few batches.
// Deterministic. Errors: as of exact_counts.hpp.
#pragma once

#include <cstdint>
#include <span>

#include "sim/memory/caches/exact_counts.hpp"
#include "sim/memory/caches/lru_grid_pass.hpp"

namespace rayreplay::memory {

inline constexpr std::uint64_t kStackedWays = 254;  ///< ways of a stack: depths are bytes

struct LruGrid {
  ExactCounts counts;
  std::uint64_t passes = 0;   ///< accesses over all passes, after stripping
  std::uint64_t stacked = 0;  ///< streams counted by stack passes
};

/// `accelerator` null: the processor. `form` affects speed only; tests set it.
[[nodiscard]] LruGrid lru_grid(std::span<const LineAccess> accesses, std::span<const std::uint64_t> begins,
                               std::span<const CacheGeometry> geometries, const CachePolicy& policy,
                               Accelerator* accelerator, GridForm form = best_grid_form());

}  // namespace rayreplay::memory
