// Making a Device ready to record, and taking it down.
#pragma once

#include <memory>

#include "capture/layer/device/device.hpp"
#include "capture/layer/device/device_features.hpp"

namespace rayreplay::layer {

/// After the next layer made the device with what `request` asked for. The device can always be used; `records` and
/// `instrumented` say how far it got, a Note what is missing.
void set_up(Device& device, const DeviceRequest& request, bool with_additions, const VkDeviceCreateInfo& created);

/// Before the next layer destroys the device.
void take_down(Device& device) noexcept;

}  // namespace rayreplay::layer
