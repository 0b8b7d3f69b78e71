// What exact LRU caches with sectors and stores make of the same streams: all sets and ways of a grid at once.
//
// Contract: stream s is accesses [begins[s], begins[s + 1]); `counts[c][s]` is what make_set_associative(geometry c,
// policy) counts of it, every field, to the last one. All geometries have the same line and sector; `policy` is Lru.
//
// How: caches of one number of sets hold each other's lines (inclusion: Mattson et al., IBM Systems Journal 1970), so
// one pass over the accesses with a stack of lines for each set serves all ways. Sectors: a line remembers for each
// sector the greatest depth at which it was found since the sector was touched last; the sector is in a cache of A ways
// exactly if that, and the depth now, are below A. Dirty sectors likewise, since the last store: the greatest depth m
// until the next store, or the end, is a write by all caches of m ways or less. An access that finds its line on top
// with all its sectors there changes nothing, in any multiple of that number of sets either: it is not passed on to
// them (trace stripping: Puzak, 1985). Numbers of sets form a tree by divisors, batches of accesses run through it as
// through a pipeline, on all cores. What is the same for all of them, the numbering of lines and in what order their
// sectors were touched, is found out once. One set of more ways than kStackedWays: distances of the reuse
// engine `bitmap`; several such sets: the caches by themselves, over all cores.
//
// Stores with allocate=false hold no stack. To a line that no load of the stream touches they change nothing and are
// counted alone. A stream with a line that is both loaded and stored to runs through exact_counts.hpp: `stacked` is the
// number of streams that did not. So do streams whose lines span 2^32 or more, or of that many accesses.
//
// With an accelerator that has a device exact_counts.hpp runs there. Memory on the processor: for each number of sets
// 8 bytes for each line of the stream (16 where stores are written back to lines of 8 sectors) and 2 for each of 32,
// 64, 128 or 256 places of each set, or 4 where neither the lines of a set nor those of the stream can be told apart by
// 16 bits; a table of lines; a few batches. Deterministic. Errors: as of exact_counts.hpp.
#pragma once

#include <cstdint>
#include <span>

#include "sim/memory/caches/exact_counts.hpp"
#include "sim/memory/caches/lru_grid_pass.hpp"

namespace rayreplay::memory {

inline constexpr std::uint64_t kStackedWays = 254;  ///< of a stack: depths are bytes

struct LruGrid {
  ExactCounts counts;
  std::uint64_t passes = 0;   ///< over a stream, or what was left of it
  std::uint64_t stacked = 0;  ///< streams that took one pass for each number of sets
};

/// `accelerator` null: the processor. `form` changes nothing but speed: tests use it.
[[nodiscard]] LruGrid lru_grid(std::span<const LineAccess> accesses, std::span<const std::uint64_t> begins,
                               std::span<const CacheGeometry> geometries, const CachePolicy& policy,
                               Accelerator* accelerator, GridForm form = best_grid_form());

}  // namespace rayreplay::memory
