#include "sim/machine/distributions/plans.hpp"

#include <numeric>

#include "base/declare_parameters.hpp"
#include "scheduler-models/warp_grid.hpp"

namespace rayreplay::machine {

WorkPlan plan_in_start_order(const scheduler::WarpAssignment& assignment) {
  const std::size_t size = assignment.warp_size;
  WorkPlan plan;
  plan.warp_size = assignment.warp_size;
  plan.thread_at.resize(assignment.thread_at.size());
  for (std::size_t warp = 0; warp < assignment.warps(); ++warp) {
    const std::size_t item = assignment.start_rank[warp];
    for (std::size_t lane = 0; lane < size; ++lane) {
      plan.thread_at[item * size + lane] = assignment.thread_at[warp * size + lane];
    }
  }
  plan.queue.resize(assignment.warps());
  std::iota(plan.queue.begin(), plan.queue.end(), 0U);
  plan.queue_begin = {0, plan.queue.size()};
  return plan;
}

void split_queue(WorkPlan& plan, const std::vector<std::uint32_t>& sm_of_item, std::uint32_t sms) {
  std::vector<std::uint64_t> begin(std::size_t{sms} + 1, 0);
  for (const std::uint32_t item : plan.queue) {
    ++begin[sm_of_item[item] + 1];
  }
  std::partial_sum(begin.begin(), begin.end(), begin.begin());
  std::vector<std::uint64_t> next(begin.begin(), begin.end() - 1);
  std::vector<std::uint32_t> queue(plan.queue.size());
  for (const std::uint32_t item : plan.queue) {
    queue[next[sm_of_item[item]]++] = item;
  }
  plan.queue = std::move(queue);
  plan.queue_begin = std::move(begin);
}

WorkPlan plan_scanline(trace::LaunchSize size, std::uint32_t warp_size, bool wrap) {
  const scheduler::WarpGrid grid = scheduler::make_warp_grid(size, warp_size, {warp_size, 1});
  WorkPlan plan = plan_in_start_order(scheduler::assign_row_major(size, warp_size, grid));
  if (wrap) {
    const std::uint64_t items = (size.threads() + warp_size - 1) / warp_size;
    plan.thread_at.assign(items * warp_size, scheduler::kNoThread);
    std::iota(plan.thread_at.begin(), plan.thread_at.begin() + static_cast<std::ptrdiff_t>(size.threads()), 0U);
    plan.queue.resize(items);
    plan.queue_begin = {0, items};
  }
  return plan;
}

Parameter wrap_parameter() {
  return declare::flag(
      "wrap", false,
      "Warps take consecutive threads across the ends of rows; otherwise the last warp of a row may have empty lanes.");
}

}  // namespace rayreplay::machine
