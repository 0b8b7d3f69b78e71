#include "sim/launch/launch_stream.hpp"

#include <utility>

#include "base/error.hpp"

namespace rayreplay::experiment {
namespace {

memory::LaunchWork work_of(const LaunchSchedule& schedule, const RegroupedLaunch& regrouped) {
  return {.segments = &regrouped.segments,
          .segment_at = regrouped.schedule.segment_at,
          .thread_at = schedule.plan.thread_at,
          .loads_state = regrouped.state_moves,
          .state_bytes = regrouped.state_bytes,
          .queues = regrouped.queues.get()};
}

/// Internal for a closed loop, whose items are not known before the run.
void require_known_items(const RegroupedLaunch* regrouped) {
  if (regrouped != nullptr && regrouped->forming) {
    throw Error(ErrorKind::Internal, {"the warps of this launch form while they run", regrouped->model,
                                      "a source or a dispatcher of its own", "launch_stream", ""});
  }
}

std::unique_ptr<machine::FormingDispatcher> forming_dispatcher(const trace::Trace& trace, const trace::Launch& launch,
                                                               const RegroupedLaunch& regrouped,
                                                               const machine::Machine& machine,
                                                               scheduler::QueuePlaces* queues) {
  const Forming& forming = *regrouped.forming;
  const auto model = scheduler::SchedulerModels::create(regrouped.model).model;
  const scheduler::PlanContext context{trace,         launch,        forming.start, regrouped.segments,
                                       forming.facts, forming.hints, nullptr};
  return machine::dispatch_forming(forming.start, regrouped.segments, model->exchanges(context), machine,
                                   forming.facts.resident_warps, regrouped.charges.withheld_sms, queues);
}

}  // namespace

LaunchStream launch_stream(const trace::Trace& trace, const trace::Launch& launch, const bvh::Bvh& structure,
                           const LaunchSchedule& schedule, const RegroupedLaunch* regrouped,
                           const memory::StreamOptions& options, const machine::Machine& machine) {
  if (regrouped == nullptr || !regrouped->forming) {
    return {nullptr, dispatcher_of(schedule, regrouped, machine),
            source_of(trace, launch, structure, schedule, regrouped, options)};
  }
  std::unique_ptr<scheduler::QueuePlaces> queues;
  if (regrouped->forming->queues.entry_bytes != 0) {
    queues = forming_places(regrouped->segments, *regrouped->forming);
  }
  auto dispatcher = forming_dispatcher(trace, launch, *regrouped, machine, queues.get());
  memory::LaunchWork work = work_of(schedule, *regrouped);
  work.formed = dispatcher.get();
  work.queues = queues.get();
  work.stores_moved = regrouped->charges.state_traffic == scheduler::StateTraffic::Moved;
  auto source = memory::make_segment_source(trace, launch, structure, work, options);
  return {std::move(queues), std::move(dispatcher), std::move(source)};
}

std::unique_ptr<memory::LaunchSource> source_of(const trace::Trace& trace, const trace::Launch& launch,
                                                const bvh::Bvh& structure, const LaunchSchedule& schedule,
                                                const RegroupedLaunch* regrouped,
                                                const memory::StreamOptions& options) {
  require_known_items(regrouped);
  if (regrouped == nullptr) {
    return memory::make_launch_source(trace, launch, structure, schedule.plan.thread_at, options);
  }
  return memory::make_segment_source(trace, launch, structure, work_of(schedule, *regrouped), options);
}

std::unique_ptr<machine::Dispatcher> dispatcher_of(const LaunchSchedule& schedule, const RegroupedLaunch* regrouped,
                                                   const machine::Machine& machine) {
  require_known_items(regrouped);
  if (regrouped == nullptr) {
    return machine::dispatch_plan(schedule.plan, machine.sms);
  }
  return regrouped->sm.empty()
             ? machine::dispatch_schedule(regrouped->schedule, machine, regrouped->charges.withheld_sms)
             : machine::dispatch_played(regrouped->schedule, regrouped->segments, regrouped->sm, machine);
}

}  // namespace rayreplay::experiment
