// The access stream of a launch: its source of items, and who starts which item where.
//
// Contract: without `regrouped`, items are whole threads, distributed by the schedule's work plan. With it, items are
// the warps of segments that the scheduler model formed; the work plan gives the threads' homes (launch_memory.hpp)
// alone. Everything that is passed must outlive the results. Errors: those of make_launch_source and of the
// dispatchers.
#pragma once

#include <memory>

#include "bvh/bvh.hpp"
#include "sim/launch/launch_schedule.hpp"
#include "sim/launch/regrouped_launch.hpp"
#include "sim/machine/dispatcher.hpp"
#include "sim/memory/streams/launch_source.hpp"

namespace rayreplay::experiment {

/// `regrouped`: null for whole threads.
[[nodiscard]] std::unique_ptr<memory::LaunchSource> source_of(const trace::Trace& trace, const trace::Launch& launch,
                                                              const bvh::Bvh& structure, const LaunchSchedule& schedule,
                                                              const RegroupedLaunch* regrouped,
                                                              const memory::StreamOptions& options);

[[nodiscard]] std::unique_ptr<machine::Dispatcher> dispatcher_of(const LaunchSchedule& schedule,
                                                                 const RegroupedLaunch* regrouped,
                                                                 const machine::Machine& machine);

}  // namespace rayreplay::experiment
