// The access stream of a launch: its source of items, and who starts which item where.
//
// Contract: without `regrouped`, items are whole threads, distributed by the schedule's work plan. With it, items are
// the warps of segments that the scheduler model forms; the work plan gives the threads' homes (launch_memory.hpp)
// alone. In a closed loop they form while the dispatcher gives them, and the source asks it for their
// segments; every run needs a new dispatcher and a new source. Everything that is passed must outlive the results.
// Errors: those of make_launch_source, of the dispatchers and of the scheduler model's exchanges.
#pragma once

#include <memory>

#include "bvh/bvh.hpp"
#include "sim/launch/launch_schedule.hpp"
#include "sim/launch/regrouped_launch.hpp"
#include "sim/machine/dispatcher.hpp"
#include "sim/memory/streams/launch_source.hpp"

namespace rayreplay::experiment {

/// A stream's dispatcher, and its source.
struct LaunchStream {
  std::unique_ptr<scheduler::QueuePlaces> queues;  ///< that fill during the run; null: none
  std::unique_ptr<machine::Dispatcher> dispatcher;
  std::unique_ptr<memory::LaunchSource> source;
};

/// `regrouped`: null for whole threads.
[[nodiscard]] LaunchStream launch_stream(const trace::Trace& trace, const trace::Launch& launch,
                                         const bvh::Bvh& structure, const LaunchSchedule& schedule,
                                         const RegroupedLaunch* regrouped, const memory::StreamOptions& options,
                                         const machine::Machine& machine);

/// The parts of launch_stream for items that are known in advance; Internal for a closed loop.
[[nodiscard]] std::unique_ptr<memory::LaunchSource> source_of(const trace::Trace& trace, const trace::Launch& launch,
                                                              const bvh::Bvh& structure, const LaunchSchedule& schedule,
                                                              const RegroupedLaunch* regrouped,
                                                              const memory::StreamOptions& options);

[[nodiscard]] std::unique_ptr<machine::Dispatcher> dispatcher_of(const LaunchSchedule& schedule,
                                                                 const RegroupedLaunch* regrouped,
                                                                 const machine::Machine& machine);

}  // namespace rayreplay::experiment
