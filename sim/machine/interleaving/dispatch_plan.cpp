// Queues of a work plan: one for all SMs, or one for each.
#include <algorithm>

#include <fmt/format.h>

#include "base/error.hpp"
#include "sim/machine/dispatcher.hpp"

namespace rayreplay::machine {
namespace {

class PlanDispatcher final : public Dispatcher {
 public:
  PlanDispatcher(const WorkPlan& plan, std::uint32_t sms)
      : plan_(&plan), is_shared_(plan.queues() == 1 && sms > 1), next_(plan.queue_begin) {
    next_.pop_back();
  }

  [[nodiscard]] std::uint32_t items() const override {
    return plan_->items();
  }
  [[nodiscard]] std::uint32_t take_own(std::uint32_t sm, std::uint64_t /*cycle*/) override {
    return is_shared_ ? kNone : take(sm);
  }
  [[nodiscard]] bool has_shared(std::uint32_t /*sm*/, std::uint64_t /*cycle*/) const override {
    return is_shared_ && next_[0] < plan_->queue_begin[1];
  }
  [[nodiscard]] std::uint32_t take_shared(std::uint32_t /*sm*/, std::uint64_t /*cycle*/,
                                          std::vector<Release>& /*releases*/) override {
    return is_shared_ ? take(0) : kNone;
  }
  void ended(std::uint32_t /*item*/, std::uint32_t /*sm*/, std::uint64_t /*cycle*/,
             std::vector<Release>& /*releases*/) override {}
  [[nodiscard]] std::uint64_t next_release(std::uint32_t /*sm*/, std::uint64_t /*cycle*/) const override {
    return kNever;
  }
  void append_next(std::size_t most, std::vector<std::uint32_t>& items) const override {
    const std::uint64_t each = std::max<std::uint64_t>(most / next_.size(), 1);
    for (std::size_t queue = 0; queue < next_.size(); ++queue) {
      const std::uint64_t end = std::min(next_[queue] + each, plan_->queue_begin[queue + 1]);
      for (std::uint64_t place = next_[queue]; place < end; ++place) {
        items.push_back(plan_->queue[place]);
      }
    }
  }

 private:
  std::uint32_t take(std::size_t queue) {
    return next_[queue] == plan_->queue_begin[queue + 1] ? kNone : plan_->queue[next_[queue]++];
  }

  const WorkPlan* plan_;
  bool is_shared_;
  std::vector<std::uint64_t> next_;  ///< by queue
};

}  // namespace

std::unique_ptr<Dispatcher> dispatch_plan(const WorkPlan& plan, std::uint32_t sms) {
  if (plan.queues() != 1 && plan.queues() != sms) {
    throw Error(ErrorKind::Usage, {"the work plan has another number of SMs than the machine", "",
                                   fmt::format("{} queues", plan.queues()), fmt::format("1 or {}", sms), ""});
  }
  return std::make_unique<PlanDispatcher>(plan, sms);
}

}  // namespace rayreplay::machine
