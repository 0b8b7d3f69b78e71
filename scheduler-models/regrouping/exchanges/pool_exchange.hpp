// The pool: an exchange that sorts its waiting threads when it is full, or after a time-out.
//
// Contract: threads wait in order of arrival. `release` gives batches: while pool_warps · warp_size or more threads
// wait, the longest waiting ones; then all others, if the longest waiting has waited `timeout_cycles`, or if the
// machine is starved and nothing else was released. A batch is sorted by key and cut into warps (regroup.hpp,
// `form_warps`), independently of other batches: an earlier warp may be continued once in each. Deadline: when the
// longest waiting thread has waited `timeout_cycles`. O(log threads) a thread and pool; memory linear in waiting
// threads.
#pragma once

#include <cstdint>
#include <memory>

#include "capture/trace/column.hpp"
#include "scheduler-models/regrouping/exchange.hpp"
#include "scheduler-models/regrouping/regroup.hpp"

namespace rayreplay::scheduler {

/// `keys`: by segment of the launch. `regrouping`: split_keys and keep_lanes are used. `pool_warps`: at least 1.
/// `timeout_cycles`: at least 0; kNever: no time-out.
[[nodiscard]] std::unique_ptr<Exchange> make_pool_exchange(std::shared_ptr<const trace::Column<std::uint64_t>> keys,
                                                           std::uint32_t warp_size, const Regrouping& regrouping,
                                                           std::uint32_t pool_warps, double timeout_cycles);

}  // namespace rayreplay::scheduler
