// Many cache hierarchies over one recorded stream.
//
// Contract: `result[i]` is what memory::Analysis (sim/memory/results/analysis.hpp) makes of the stream with hierarchy
// i: the same integers, whatever the way. Ways: hierarchies whose L1 (or L2) differ in sets and ways alone and whose
// model is LRU share one pass over the accesses for each number of sets (memory/caches/lru_grid.hpp); an L2 that is fed
// with misses gets one stream for each L1; everything else (fifo, random, sdcm, stores without allocation to lines that
// are also loaded) runs by itself, hierarchies side by side over all cores. A hierarchy that cannot be (a geometry that
// does not fit) is an error of its own in `failures`. `passes` says what was shared, for people. With an accelerator
// LRU passes go to the device. Memory: the stream, 4 bytes a transaction, accesses of kGridBytes / 2 (more where those
// of one SM are more: 16 bytes each), what comes from some L1s to their L2s, and what the caches that run at one time
// need. `room` is asked for what comes to L2s before it is there, as far as kGridBytes go side by side: 16 or 32 bytes
// an access; false: one at a time, which may throw. 0: it is gone.
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
#include "sim/experiment/hierarchy.hpp"
#include "sim/experiment/streams/recorded_stream.hpp"
#include "sim/memory/results/analysis.hpp"

namespace rayreplay::experiment {

inline constexpr std::uint64_t kGridBytes = std::uint64_t{128} << 20U;

struct HierarchyCounts {
  memory::CacheCounts l1, l2;  ///< summed over the level's caches; zeros where there is none
  std::uint64_t dram_read_bytes = 0;
  std::uint64_t dram_written_bytes = 0;
};

struct GridResult {
  std::vector<HierarchyCounts> counts;
  std::vector<std::optional<ErrorInfo>> failures;  ///< by hierarchy
  std::uint64_t passes = 0;                        ///< over a stream of accesses
};

/// `at_least`: there is no way with less.
using GridRoom = std::function<bool(std::uint64_t bytes, bool at_least)>;

[[nodiscard]] GridResult cache_grid(const RecordedStream& stream, std::span<const Hierarchy> hierarchies,
                                    Accelerator* accelerator, Progress* progress, const GridRoom& room = {});

/// What passes over a stream remember of its lines: an upper bound, of as many streams as run at one time.
[[nodiscard]] std::uint64_t grid_table_bytes(const RecordedStream& stream, std::span<const Hierarchy> hierarchies);

/// The same, one hierarchy after another through memory::Analysis: the slow twin.
[[nodiscard]] HierarchyCounts cache_one_by_one(const RecordedStream& stream, const Hierarchy& hierarchy);

}  // namespace rayreplay::experiment
