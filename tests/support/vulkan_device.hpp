// A device for tests of kernels: lavapipe, wherever it stands in the loader's list, or the first device that is fit.
//
// Contract: throws Missing when there is none: tests of kernels need one (./rr test installs it), none skips.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "kernels/device/device.hpp"

namespace rayreplay::test {

[[nodiscard]] inline std::unique_ptr<kernels::Device> open_test_device(const kernels::DeviceOptions& options = {}) {
  const std::vector<kernels::DeviceInfo> devices = kernels::list_devices();
  const auto fit = [](const kernels::DeviceInfo& info) { return info.unfit.empty(); };
  auto found = std::find_if(devices.begin(), devices.end(), [&](const kernels::DeviceInfo& info) {
    return fit(info) && info.type == kernels::DeviceType::Cpu;
  });
  if (found == devices.end()) {
    found = std::find_if(devices.begin(), devices.end(), fit);
  }
  if (found == devices.end()) {
    throw Error(ErrorKind::Missing,
                {"there is no Vulkan device that can run the kernels", "", "", "lavapipe, at least", "run ./rr setup"});
  }
  return std::make_unique<kernels::Device>(*found, options);
}

}  // namespace rayreplay::test
