#include "sim/machine/work_distribution.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "scheduler-models/thread_places.hpp"

namespace rayreplay::machine {
namespace {

[[noreturn]] void broken(std::string where, std::string found, std::string expected) {
  throw Error(ErrorKind::Internal, {"a work plan breaks its contract", std::move(where), std::move(found),
                                    std::move(expected), "report this: the work distribution is at fault"});
}

void check_queues(const WorkPlan& plan, std::uint32_t sms) {
  if (plan.queues() != 1 && plan.queues() != sms) {
    broken("queue_begin", fmt::format("{} queues", plan.queues()), fmt::format("1, or one for each of {} SMs", sms));
  }
  if (plan.queue_begin.front() != 0 || plan.queue_begin.back() != plan.queue.size() ||
      !std::is_sorted(plan.queue_begin.begin(), plan.queue_begin.end())) {
    broken("queue_begin", "", fmt::format("ascending from 0 to {}", plan.queue.size()));
  }
  if (plan.queue.size() != plan.items()) {
    broken("queue", fmt::format("{} items", plan.queue.size()), fmt::format("each of {} once", plan.items()));
  }
  std::vector<bool> seen(plan.items());
  for (std::size_t place = 0; place < plan.queue.size(); ++place) {
    const std::uint32_t item = plan.queue[place];
    if (item >= plan.items() || seen[item]) {
      broken(fmt::format("queue[{}]", place), fmt::format("item {}", item),
             fmt::format("each of {} once", plan.items()));
    }
    seen[item] = true;
  }
}

}  // namespace

void check(const WorkPlan& plan, std::uint64_t threads, std::uint32_t sms) {
  if (plan.warp_size == 0 || plan.warp_size > scheduler::kMaxWarpSize) {
    broken("warp_size", fmt::format("{}", plan.warp_size), fmt::format("1 to {}", scheduler::kMaxWarpSize));
  }
  if (plan.thread_at.size() % plan.warp_size != 0) {
    broken("thread_at", fmt::format("{} places", plan.thread_at.size()),
           fmt::format("a multiple of the warp size, {}", plan.warp_size));
  }
  if (auto fault = scheduler::fault_of_places(plan.thread_at, threads)) {
    broken(std::move(fault->where), std::move(fault->found), std::move(fault->expected));
  }
  check_queues(plan, sms);
}

}  // namespace rayreplay::machine
