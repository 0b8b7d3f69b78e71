// Preparation of a Device for recording, and its end.
#pragma once

#include <memory>

#include "capture/layer/device/device.hpp"
#include "capture/layer/device/device_features.hpp"

namespace rayreplay::layer {

/// Called after the next layer made the device of `request`. The device can always be used; `records` and
/// `instrumented` state what works, a Note what is missing.
void set_up(Device& device, const DeviceRequest& request, bool with_additions, const VkDeviceCreateInfo& created);

/// Before the next layer destroys the device.
void take_down(Device& device) noexcept;

}  // namespace rayreplay::layer
