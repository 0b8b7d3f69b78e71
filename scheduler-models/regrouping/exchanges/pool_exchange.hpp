// The pool: an exchange that sorts waiting threads once enough of them are there, or when they have waited long enough.
//
// Contract: threads wait in order of arrival. `release` gives, first, as long as pool_warps · warp_size or more wait,
// that many of them, the longest waiting, sorted by key and cut into warps. Then, if the longest waiting has waited
// `timeout_cycles`, all that are left; and all of them, too, when the machine says that it is starved and nothing else
// was released. Warps are formed as everywhere (regroup.hpp, `form_warps`), of each batch on its own: an earlier warp
// whose threads leave in several batches may be continued once in each. Deadline: when the longest waiting has waited
// `timeout_cycles`. O(log threads) a thread and pool; memory linear in the threads that wait.
#pragma once

#include <cstdint>
#include <memory>

#include "capture/trace/column.hpp"
#include "scheduler-models/regrouping/exchange.hpp"
#include "scheduler-models/regrouping/regroup.hpp"

namespace rayreplay::scheduler {

/// `keys`: by segment of the launch. `regrouping`: split_keys and keep_lanes are heeded. `pool_warps`: at least 1.
/// `timeout_cycles`: at least 0; kNever: none.
[[nodiscard]] std::unique_ptr<Exchange> make_pool_exchange(std::shared_ptr<const trace::Column<std::uint64_t>> keys,
                                                           std::uint32_t warp_size, const Regrouping& regrouping,
                                                           std::uint32_t pool_warps, double timeout_cycles);

}  // namespace rayreplay::scheduler
