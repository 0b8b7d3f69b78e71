// An accelerator of the test device; `required`: it passes every fault on.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "capture/trace/accelerated_launch.hpp"
#include "tests/support/vulkan_device.hpp"

namespace rayreplay::kernels {

[[nodiscard]] inline std::unique_ptr<Accelerator> test_accelerator(bool required = true,
                                                                   const DeviceOptions& options = {}) {
  std::vector<std::unique_ptr<Device>> devices;
  devices.push_back(test::open_test_device(options));
  return std::make_unique<Accelerator>(std::move(devices), required, [](const std::string&) {});
}

}  // namespace rayreplay::kernels
