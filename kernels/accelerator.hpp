// Opens the devices that --device names.
//
// Contract: `choice` is "auto" (the best GPU: discrete before integrated before virtual; the processor where there is
// none), "cpu", "vulkan" (as auto, but an error where there is no GPU), "vulkan:N", "all" (every GPU), a part of a name
// or a uuid, or several of the last three separated by commas. Software devices (lavapipe) are taken only by number,
// name or uuid. Errors: Usage, with the list of devices, for a choice that fits none or several; Missing where a device
// was asked for and there is no loader, the device is unfit, or the program was built without GPU support.
#pragma once

#include <memory>
#include <string>

#include "base/accelerator.hpp"
#include "kernels/device/device.hpp"

namespace rayreplay::kernels {

[[nodiscard]] std::unique_ptr<Accelerator> make_accelerator(const std::string& choice, const DeviceOptions& options,
                                                            Accelerator::Log log);

}  // namespace rayreplay::kernels
