#include "scheduler-models/regrouping/scheduler_model.hpp"

#include "base/error.hpp"

namespace rayreplay::scheduler {
namespace {

[[noreturn]] void not_of_this_kind(const char* what) {
  throw Error(ErrorKind::Internal,
              {"a scheduler model was asked for what its grouping does not have", "scheduler model", what,
               "a static model for a schedule, a timed one for exchanges", "report this: the caller is at fault"});
}

}  // namespace

SegmentSchedule SchedulerModel::schedule(const PlanContext&) const {
  not_of_this_kind("a static schedule");
}

std::vector<std::unique_ptr<Exchange>> SchedulerModel::exchanges(const PlanContext&) const {
  not_of_this_kind("exchanges");
}

}  // namespace rayreplay::scheduler
