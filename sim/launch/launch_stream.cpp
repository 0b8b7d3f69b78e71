#include "sim/launch/launch_stream.hpp"

namespace rayreplay::experiment {

std::unique_ptr<memory::LaunchSource> source_of(const trace::Trace& trace, const trace::Launch& launch,
                                                const bvh::Bvh& structure, const LaunchSchedule& schedule,
                                                const RegroupedLaunch* regrouped,
                                                const memory::StreamOptions& options) {
  if (regrouped == nullptr) {
    return memory::make_launch_source(trace, launch, structure, schedule.plan.thread_at, options);
  }
  const memory::LaunchWork work{.segments = &regrouped->segments,
                                .segment_at = regrouped->schedule.segment_at,
                                .thread_at = schedule.plan.thread_at,
                                .loads_state = regrouped->state_moves,
                                .state_bytes = regrouped->state_bytes};
  return memory::make_segment_source(trace, launch, structure, work, options);
}

std::unique_ptr<machine::Dispatcher> dispatcher_of(const LaunchSchedule& schedule, const RegroupedLaunch* regrouped,
                                                   const machine::Machine& machine) {
  if (regrouped == nullptr) {
    return machine::dispatch_plan(schedule.plan, machine.sms);
  }
  return regrouped->sm.empty()
             ? machine::dispatch_schedule(regrouped->schedule, machine, regrouped->charges.withheld_sms)
             : machine::dispatch_played(regrouped->schedule, regrouped->segments, regrouped->sm, machine);
}

}  // namespace rayreplay::experiment
