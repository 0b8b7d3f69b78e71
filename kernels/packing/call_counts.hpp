// How often each call (kind, shader) happens in a launch, counted on a device.
//
// Contract: exact. The counts stay on the device with the launch's columns: asking again costs a download. Reads kinds
// and shaders once (3 bytes an event) and shaders once more. Errors: DeviceError.
#pragma once

#include "kernels/device/device.hpp"
#include "kernels/launch_on_device.hpp"
#include "scheduler-models/bound.hpp"

namespace rayreplay::kernels {

using scheduler::CallCounts;

[[nodiscard]] CallCounts call_counts(LaunchOnDevice& launch, Device& device);

}  // namespace rayreplay::kernels
