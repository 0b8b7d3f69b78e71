// The queues of a thread-sorting unit: threads wait by the record of the shader that they will run.
//
// Contract: one queue per key (record), in order of arrival. A queue with `simd_width` threads forms a warp of the
// longest waiting ones, which fill lanes from 0 in order of their last places; of several such queues the one that was
// filled first comes first. After `release` at most `most_threads` threads wait (0: no limit): beyond it the longest
// queue forms a warp of all its threads (ties: the queue whose first thread waits longest). Formed warps wait for a
// slot elsewhere and do not count. If the machine is starved and nothing else was released, the longest queue forms a
// warp too. No deadline. `moved` as in regroup.hpp, per warp. O(log queues) a thread; memory linear in waiting threads
// and used queues. Source: docs/assumptions.md; the talk on Intel's implementation (XDC 2021) names the parts, not
// their selection rules.
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
