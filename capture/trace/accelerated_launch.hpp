// A launch and the devices that may work on it.
//
// Contract: made for one launch, which must outlive it unchanged. What kernels upload of the launch, or derive from it,
// stays on the devices as long as this lives: `on_devices` holds it, typed in kernels/launch_on_device.hpp alone. A
// null AcceleratedLaunch* means: the processor.
#pragma once

#include "base/accelerator.hpp"
#include "capture/trace/trace.hpp"

namespace rayreplay::trace {

class AcceleratedLaunch {
 public:
  AcceleratedLaunch(Accelerator& accelerator, const Launch& launch) : accelerator_(&accelerator), launch_(&launch) {}
  AcceleratedLaunch(const AcceleratedLaunch&) = delete;
  AcceleratedLaunch& operator=(const AcceleratedLaunch&) = delete;

  [[nodiscard]] Accelerator& accelerator() const {
    return *accelerator_;
  }
  [[nodiscard]] const Launch& launch() const {
    return *launch_;
  }
  [[nodiscard]] DeviceSlot& on_devices() {
    return on_devices_;
  }

 private:
  Accelerator* accelerator_;
  const Launch* launch_;
  DeviceSlot on_devices_;
};

[[nodiscard]] inline Accelerator* accelerator_of(const AcceleratedLaunch* launch) {
  return launch == nullptr ? nullptr : &launch->accelerator();
}

}  // namespace rayreplay::trace
