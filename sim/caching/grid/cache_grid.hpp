// Many cache hierarchies over one recorded stream.
//
// Contract: `result[i]` equals the result of memory::Analysis (sim/memory/results/analysis.hpp) for hierarchy i,
// integer by integer. LRU caches of one level that differ only in sets and ways share passes over the accesses: one
// pass for each number of sets (sim/memory/caches/lru_grid.hpp). An L2 that is fed with misses gets one stream for each
// L1. All others (fifo, random, sdcm, stores without allocation to lines that are also loaded) run separately, in
// parallel over all cores. An invalid hierarchy (a geometry that does not fit) is an entry of `failures`. `passes`
// counts the passes, for display. LRU passes run on an accelerator if there is one. Memory: the stream; 4 bytes a
// transaction; L1 accesses (16 bytes each) of some SMs, at most kGridBytes / 2 or those of one SM; the L2 streams of
// some L1s; and the caches that run at a time. `room` reserves memory for L2 streams before they are made, up to
// kGridBytes in parallel: 16 or 32 bytes an access. It returns false to refuse; then one stream is made at a time,
// whose reservation may throw. A call with 0 releases the reservation.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/accelerator.hpp"
#include "base/error.hpp"
#include "base/progress.hpp"
#include "sim/caching/grid/recorded_stream.hpp"
#include "sim/caching/hierarchy.hpp"
#include "sim/memory/results/analysis.hpp"

namespace rayreplay::experiment {

inline constexpr std::uint64_t kGridBytes = std::uint64_t{128} << 20U;

struct HierarchyCounts {
  memory::CacheCounts l1, l2;  ///< summed over the level's caches; zeros for a missing level
  std::uint64_t dram_read_bytes = 0;
  std::uint64_t dram_written_bytes = 0;
};

struct GridResult {
  std::vector<HierarchyCounts> counts;
  std::vector<std::optional<ErrorInfo>> failures;  ///< by hierarchy
  std::uint64_t passes = 0;                        ///< over a stream of accesses
};

/// `at_least`: the smallest amount with which the analysis can continue.
using GridRoom = std::function<bool(std::uint64_t bytes, bool at_least)>;

[[nodiscard]] GridResult cache_grid(const RecordedStream& stream, std::span<const Hierarchy> hierarchies,
                                    Accelerator* accelerator, Progress* progress, const GridRoom& room = {});

/// Memory of passes for the lines of a stream: an upper bound for the streams that run at a time.
[[nodiscard]] std::uint64_t grid_table_bytes(const RecordedStream& stream, std::span<const Hierarchy> hierarchies);

}  // namespace rayreplay::experiment
