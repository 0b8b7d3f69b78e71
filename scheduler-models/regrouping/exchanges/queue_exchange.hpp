// The queues of a thread-sorting unit: threads wait by the record of the shader that they are to run.
//
// Contract: one queue per key (record); inside a queue threads wait in order of arrival. A queue that has `simd_width`
// threads gives them, the longest waiting, to one warp, whose lanes they fill from 0 in order of where they come from;
// of several such queues the one that got its last thread first goes first. At most `most_threads` threads are held
// (0: no limit) when `release` returns; while there are more, the longest queue gives a warp of all it has (ties to the
// queue whose first thread waits longest). Warps that were given wait for a slot elsewhere, and do not count. When the
// machine is starved and nothing else was released, the longest queue gives a warp too. There is no deadline. `moved`
// is as in regroup.hpp, of each warp on its own. O(log queues) a thread; memory linear in threads that wait and queues
// in use. Source: docs/assumptions.md; the talk on Intel's implementation (XDC 2021) names the parts, not how they
// choose.
#pragma once

#include <cstdint>
#include <memory>

#include "capture/trace/column.hpp"
#include "scheduler-models/regrouping/exchange.hpp"

namespace rayreplay::scheduler {

/// `records`: by segment of the launch. `simd_width`: 1 to kMaxWarpSize.
[[nodiscard]] std::unique_ptr<Exchange> make_queue_exchange(std::shared_ptr<const trace::Column<std::uint64_t>> records,
                                                            std::uint32_t simd_width, std::uint64_t most_threads);

}  // namespace rayreplay::scheduler
