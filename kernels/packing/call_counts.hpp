// How often each call (kind, shader) happens in a launch, counted on a device.
//
// Contract: exact. The counts stay on the device with the launch's columns: asking again costs a download. Reads kinds
// and shaders once (3 bytes an event) and shaders once more. Errors: DeviceError.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/device/device.hpp"
#include "kernels/launch_on_device.hpp"

namespace rayreplay::kernels {

struct CallCounts {
  std::uint32_t shaders = 0;         ///< the greatest shader id of an event, plus 1
  std::vector<std::uint64_t> count;  ///< [kind · shaders + shader]
};

[[nodiscard]] CallCounts call_counts(LaunchOnDevice& launch, Device& device);

}  // namespace rayreplay::kernels
