// What the work distributions share.
#pragma once

#include <cstdint>

#include "scheduler-models/warp_assignment.hpp"
#include "sim/machine/work_distribution.hpp"

namespace rayreplay::machine {

/// Items are the assignment's warps, numbered in the order in which they start, in one queue in that order.
[[nodiscard]] WorkPlan plan_in_start_order(const scheduler::WarpAssignment& assignment);

/// A queue for each SM: `sm_of_item` has an SM for each item of a plan with one queue, whose order each SM keeps.
void split_queue(WorkPlan& plan, const std::vector<std::uint32_t>& sm_of_item, std::uint32_t sms);

/// Items are rows of warp_size pixels of a row of the launch, left to right, top to bottom, slice by slice; `wrap`:
/// warp_size threads by number, which go on in the next row. One queue. Errors: Usage for more than 2^32 − 1 threads.
[[nodiscard]] WorkPlan plan_scanline(trace::LaunchSize size, std::uint32_t warp_size, bool wrap);

[[nodiscard]] Parameter wrap_parameter();

}  // namespace rayreplay::machine
