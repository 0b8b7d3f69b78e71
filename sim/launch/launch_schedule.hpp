// The schedule of a launch in cache experiments: which SM runs which warp's work. Internal to this folder and
// sim/engine.
//
// Contract: `schedule` is a work distribution's spec, or "auto": the captured one if the trace has warps on several SMs
// and order and packing are the captured ones, else "launch". `note` lists assumptions, why `auto` did not take the
// captured one, and whether order and packing have no effect. Errors: those of the distribution.
#pragma once

#include <cstdint>
#include <string>

#include "capture/trace/trace.hpp"
#include "scheduler-models/warp_assignment.hpp"
#include "sim/machine/work_distribution.hpp"

namespace rayreplay::experiment {

/// The packing of a launch's threads into warps.
struct Placement {
  std::string order, packing;  ///< resolved specs
  const scheduler::WarpAssignment& in_order;
  const scheduler::WarpAssignment& packed;
};

struct LaunchSchedule {
  machine::WorkPlan plan;
  std::string distribution;  ///< resolved spec
  bool captured_sms = false;
  std::string note;
};

[[nodiscard]] LaunchSchedule schedule_launch(const trace::Launch& launch, const Placement& placement,
                                             const std::string& schedule, std::uint32_t sms);

}  // namespace rayreplay::experiment
