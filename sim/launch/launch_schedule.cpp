#include "sim/launch/launch_schedule.hpp"

#include <algorithm>
#include <utility>

#include "base/error.hpp"
#include "scheduler-models/launch_order.hpp"

namespace rayreplay::experiment {
namespace {

constexpr const char* kAuto = "auto";
constexpr const char* kCaptured = "captured";
constexpr const char* kLaunch = "launch";
constexpr const char* kIdentity = "identity";

/// Why the trace's captured warps are not used; "": they are.
std::string reason_not_captured(const Placement& placement, const machine::WorkPlan& plan) {
  if (parse_spec(placement.order).name != kCaptured || placement.packing != kIdentity) {
    return "another order or packing of threads was asked for";
  }
  std::size_t used = 0;
  for (std::size_t queue = 0; queue < plan.queues(); ++queue) {
    used += plan.queue_begin[queue] != plan.queue_begin[queue + 1] ? 1U : 0U;
  }
  return used > 1 || plan.queues() == 1 ? "" : "the capture has a single SM, as those of software devices";
}

class Scheduler {
 public:
  Scheduler(const trace::Launch& launch, const Placement& placement, std::uint32_t sms)
      : launch_(launch), placement_(placement), sms_(sms) {}

  [[nodiscard]] LaunchSchedule schedule(const std::string& asked) {
    if (asked != kAuto) {
      take(asked);
      return finished();
    }
    if (!launch_.thread_warp.empty() && launch_.groups.size() > 0) {
      try {
        take(kCaptured);
        const std::string reason = reason_not_captured(placement_, result_.plan);
        if (reason.empty()) {
          return finished();
        }
        add_note("the captured SMs are not used: " + reason);
      } catch (const Error& error) {
        if (error.kind() != ErrorKind::Missing && error.kind() != ErrorKind::Usage) {
          throw;
        }
        add_note(std::string("the captured SMs are not used: ") + error.what());
      }
    }
    take(kLaunch);
    return finished();
  }

 private:
  [[nodiscard]] bool other_plan_with(const scheduler::WarpAssignment& assignment) const {
    const auto model = machine::WorkDistributions::create(result_.distribution).model;
    return model->plan(launch_, assignment, sms_).thread_at != result_.plan.thread_at;
  }
  /// True if another order of the threads would give another plan.
  [[nodiscard]] bool uses_assignment() const {
    scheduler::WarpAssignment other = placement_.packed;
    std::ranges::reverse(other.thread_at);
    return other_plan_with(other);
  }

  void add_note(const std::string& note) {
    if (!note.empty()) {
      result_.note += (result_.note.empty() ? "" : "; ") + note;
    }
  }

  LaunchSchedule finished() {
    add_note(result_.plan.note);
    const char* const unasked = launch_.thread_warp.empty() ? "z-order" : kCaptured;
    if (scheduler::LaunchOrders::create(unasked).spec != placement_.order && !uses_assignment()) {
      add_note("the order changes nothing: this schedule has one of its own");
    }
    if (placement_.packing != kIdentity && !other_plan_with(placement_.in_order)) {
      add_note("the packing changes nothing: this schedule makes warps of its own");
    }
    return std::move(result_);
  }

  void take(const std::string& spec) {
    const auto created = machine::WorkDistributions::create(spec);
    machine::WorkPlan plan = created.model->plan(launch_, placement_.packed, sms_);
    machine::check(plan, launch_.size.threads(), sms_);
    result_.plan = std::move(plan);
    result_.distribution = created.spec;
    result_.captured_sms = parse_spec(created.spec).name == kCaptured;
  }

  const trace::Launch& launch_;
  const Placement& placement_;
  std::uint32_t sms_;
  LaunchSchedule result_;
};

}  // namespace

LaunchSchedule schedule_launch(const trace::Launch& launch, const Placement& placement, const std::string& schedule,
                               std::uint32_t sms) {
  return Scheduler(launch, placement, sms).schedule(schedule);
}

}  // namespace rayreplay::experiment
