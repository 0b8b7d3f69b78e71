// Opens the devices that --device names.
//
// Contract: `choice`: "auto" (the fittest GPU, discrete before integrated before virtual; the processor where there is
// none), "cpu", "vulkan" (as auto, but an error where there is none), "vulkan:N", "all" (every GPU), a part of a name
// or a uuid, or several of the latter three between commas. Devices that are processors themselves (lavapipe) are taken
// only by number, name or uuid. Errors: Usage for a choice that fits no device or several, with what there is; Missing
// where a device was asked for and there is no loader, or it is unfit, or the program was built without GPU support.
#pragma once

#include <memory>
#include <string>

#include "base/accelerator.hpp"
#include "kernels/device/device.hpp"

namespace rayreplay::kernels {

[[nodiscard]] std::unique_ptr<Accelerator> make_accelerator(const std::string& choice, const DeviceOptions& options,
                                                            Accelerator::Log log);

}  // namespace rayreplay::kernels
