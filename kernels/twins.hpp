// Registration of kernels as twins of the rooms' algorithms (base/twin.hpp).
//
// Contract: `first_device(f)` and `all_devices(f)` make Twin::Kernels::run from `f(Device&, arguments…)` and
// `f(std::span<Device* const>, arguments…)`. Every ComputeDevice of this program is a Device.
#pragma once

#include <utility>
#include <vector>

#include "base/twin.hpp"
#include "kernels/device/device.hpp"

namespace rayreplay::kernels {

[[nodiscard]] inline std::vector<Device*> devices_of(Accelerator::Devices devices) {
  std::vector<Device*> result;
  for (ComputeDevice* device : devices) {
    result.push_back(static_cast<Device*>(device));
  }
  return result;
}
[[nodiscard]] inline std::vector<Device*> devices_of(const Accelerator& accelerator) {
  return devices_of(accelerator.devices());
}

template <class Function>
auto first_device(Function function) {
  return [function](Accelerator::Devices devices, auto&&... arguments) {
    return function(static_cast<Device&>(*devices.front()), std::forward<decltype(arguments)>(arguments)...);
  };
}
template <class Function>
auto all_devices(Function function) {
  return [function](Accelerator::Devices devices, auto&&... arguments) {
    const std::vector<Device*> there = devices_of(devices);
    return function(std::span<Device* const>(there), std::forward<decltype(arguments)>(arguments)...);
  };
}

}  // namespace rayreplay::kernels
