// Accelerators of test devices (vulkan_device.hpp).
#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "base/accelerator.hpp"
#include "kernels/device/device.hpp"
#include "tests/support/vulkan_device.hpp"

namespace rayreplay::test {

/// `required`: as if the devices had been asked for by name, so that their errors are errors.
[[nodiscard]] inline std::unique_ptr<Accelerator> open_accelerator(std::size_t devices = 1, bool required = true,
                                                                   const kernels::DeviceOptions& options = {},
                                                                   Accelerator::Log log = {}) {
  std::vector<std::unique_ptr<kernels::Device>> opened;
  for (std::size_t i = 0; i < devices; ++i) {
    opened.push_back(open_test_device(options));
  }
  return std::make_unique<Accelerator>(std::move(opened), required, std::move(log));
}

/// One for all tests of the program: opening a device and making its pipelines takes longer than most tests.
[[nodiscard]] inline Accelerator& shared_accelerator() {
  static const std::unique_ptr<Accelerator> accelerator = open_accelerator();
  return *accelerator;
}

}  // namespace rayreplay::test
