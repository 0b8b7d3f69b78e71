// A launch on the test device, whose accelerator passes every fault on.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "kernels/launch_on_device.hpp"
#include "tests/support/vulkan_device.hpp"

namespace rayreplay::kernels {

[[nodiscard]] inline std::unique_ptr<Accelerator> test_accelerator() {
  std::vector<std::unique_ptr<Device>> devices;
  devices.push_back(test::open_test_device());
  return std::make_unique<Accelerator>(std::move(devices), true, [](const std::string&) {});
}

}  // namespace rayreplay::kernels
