// Work plans (work_distribution.hpp) that several work distributions share.
//
// Contract: every plan obeys `check` of work_distribution.hpp. O(threads).
#pragma once

#include <cstdint>

#include "scheduler-models/warp_assignment.hpp"
#include "sim/machine/work_distribution.hpp"

namespace rayreplay::machine {

/// One queue with the assignment's warps in the order in which they start.
[[nodiscard]] WorkPlan plan_in_start_order(const scheduler::WarpAssignment& assignment);

/// A queue for each SM: `sm_of_item` gives the SM of each item of a single-queue plan; each SM keeps the plan's order.
void split_queue(WorkPlan& plan, const std::vector<std::uint32_t>& sm_of_item, std::uint32_t sms);

/// Items are warp_size pixels of a row of the launch: left to right, top to bottom, slice by slice. `wrap`: items are
/// warp_size consecutive threads, across row ends. One queue. Errors: Usage for more than 2^32 − 1 threads.
[[nodiscard]] WorkPlan plan_scanline(trace::LaunchSize size, std::uint32_t warp_size, bool wrap);

[[nodiscard]] Parameter wrap_parameter();

}  // namespace rayreplay::machine
