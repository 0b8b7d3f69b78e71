// Captured: each warp on the SM that ran it.
#include <algorithm>
#include <unordered_map>

#include <fmt/format.h>

#include "base/error.hpp"
#include "scheduler-models/launch_order.hpp"
#include "sim/machine/distributions/plans.hpp"

namespace rayreplay::machine {
namespace {

/// By captured warp id (any number): the SM of its first co-execution group.
std::unordered_map<std::uint32_t, std::uint32_t> sms_of_warps(const trace::Launch& launch) {
  std::unordered_map<std::uint32_t, std::uint32_t> sm_of;
  for (std::size_t group = 0; group < launch.groups.size(); ++group) {
    if (launch.groups.warp[group] != trace::kNone) {
      sm_of.try_emplace(launch.groups.warp[group], launch.groups.sm[group]);
    }
  }
  return sm_of;
}

class Captured final : public WorkDistribution {
 public:
  [[nodiscard]] WorkPlan plan(const trace::Launch& launch, const scheduler::WarpAssignment& assignment,
                              std::uint32_t sms) const override {
    if (launch.thread_warp.empty() || launch.groups.size() == 0) {
      throw Error(ErrorKind::Missing,
                  {"the trace does not say on which SMs its warps ran",
                   launch.thread_warp.empty() ? "thread_warp" : "groups", "no rows", "captured warps and groups",
                   "record the application with the capture layer on a device that reports SMs, or use another work "
                   "distribution, such as launch"});
    }
    // The warps are the captured ones, with their lanes, in the order of their ids.
    const auto order = scheduler::LaunchOrders::create("captured").model;
    WorkPlan plan = plan_in_start_order(order->assign(launch, assignment.warp_size));
    const std::unordered_map<std::uint32_t, std::uint32_t> sm_of_warp = sms_of_warps(launch);
    std::uint64_t unknown = 0;   // among warps with events; warps without any do not run
    std::uint64_t recorded = 0;  // warps with events
    std::vector<std::uint32_t> sm_of_item(plan.items());
    for (std::size_t item = 0; item < sm_of_item.size(); ++item) {
      const auto begin = plan.thread_at.begin() + static_cast<std::ptrdiff_t>(item * plan.warp_size);
      const auto thread =
          std::find_if(begin, begin + plan.warp_size, [](std::uint32_t at) { return at != scheduler::kNoThread; });
      const std::uint32_t warp = launch.thread_warp[*thread];
      const auto known = sm_of_warp.find(warp);
      const bool has_events = std::any_of(thread, begin + plan.warp_size, [&](std::uint32_t at) {
        return at < launch.data.threads() && launch.data.event_offset[at] != launch.data.event_offset[at + 1];
      });
      recorded += has_events ? 1U : 0U;
      unknown += known == sm_of_warp.end() && has_events ? 1U : 0U;
      sm_of_item[item] = known == sm_of_warp.end() ? static_cast<std::uint32_t>(item % sms) : known->second;
      if (sm_of_item[item] >= sms) {
        throw Error(ErrorKind::Usage,
                    {"the trace has warps on more SMs than the machine has", fmt::format("warp {}", warp),
                     fmt::format("SM {}", sm_of_item[item]), fmt::format("less than {}", sms),
                     "give the SMs of the captured device, or use another work distribution"});
      }
    }
    split_queue(plan, sm_of_item, sms);
    if (unknown > 0) {
      plan.note = fmt::format("the capture does not say on which SM {} of {} warps with events ran: dealt out in turn",
                              unknown, recorded);
    }
    return plan;
  }
};

const WorkDistributions::Registrar kRegistrar(
    {.kind = {},
     .name = "captured",
     .summary = "Each warp on the SM that the capture saw it on, in the captured order",
     .text =
         "Warps are those that were captured, with their threads and lanes. A warp's SM is that of its first "
         "co-execution group; each SM takes its own warps in the order of their captured ids, that is of their start. "
         "Warps without a group (none of their threads was recorded, or all of their groups were of warps that the "
         "hardware had repacked) are dealt out by their place in that order, modulo the number of SMs; a note says how "
         "many of those with events. When a slot becomes free is the interleaving's time, not the captured one.",
     .source = "rayreplay",
     .parameters = {}},
    [](const Parameters&) { return std::make_unique<Captured>(); });

}  // namespace
}  // namespace rayreplay::machine
