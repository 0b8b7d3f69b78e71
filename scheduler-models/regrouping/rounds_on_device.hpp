// schedule_by_key on a device (kernels/regrouping/rounds.hpp).
//
// Contract: that of schedule_by_key (regroup.hpp), for keys that a device makes; the context names the launch on it.
// Uploads the assignment, 4 bytes a place, and brings the schedule to the processor. Errors: DeviceError too.
#pragma once

#include <optional>

#include "kernels/device/device.hpp"
#include "scheduler-models/regrouping/regroup.hpp"

namespace rayreplay::scheduler {

[[nodiscard]] SegmentSchedule schedule_on_device(kernels::Device& device, const PlanContext& context,
                                                 const std::optional<KeyParts>& parts, const Regrouping& regrouping);

}  // namespace rayreplay::scheduler
