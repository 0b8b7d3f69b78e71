// schedule_rounds on the processor: the twin of kernels/regrouping/rounds.hpp.
//
// Contract: that of schedule_rounds (regroup.hpp), whatever the context's device.
#pragma once

#include "scheduler-models/regrouping/regroup.hpp"

namespace rayreplay::scheduler {

[[nodiscard]] SegmentSchedule rounds_on_cpu(const PlanContext& context, const trace::Column<std::uint64_t>& keys,
                                            const Regrouping& regrouping);

}  // namespace rayreplay::scheduler
