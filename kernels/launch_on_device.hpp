// A launch whose columns stay on the devices, for replays, packings and regroupings.
//
// Contract: made for one launch, which must outlive it unchanged. `column` uploads a column of that launch at its first
// use on a device and keeps it; the buffer holds the elements in order. `derived` keeps a result computed from the
// launch alone under a name ("simt.codes:…") that states everything it depends on: later calls with the name return the
// first buffer. Different threads may use different devices concurrently. Errors: DeviceError, std::bad_alloc.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>

#include "capture/trace/accelerated_launch.hpp"
#include "kernels/device/device.hpp"

namespace rayreplay::kernels {

class LaunchOnDevice {
 public:
  explicit LaunchOnDevice(const trace::Launch& launch) : launch_(&launch) {}

  [[nodiscard]] const trace::Launch& launch() const {
    return *launch_;
  }

  /// At least 16 bytes, even for an empty column.
  template <class T>
  [[nodiscard]] const Buffer& column(Device& device, Stream& stream, const trace::Column<T>& column) {
    return uploaded(device, stream, column.data(), std::as_bytes(std::span(column)));
  }
  /// `make(device, stream)` returns the Buffer.
  [[nodiscard]] const Buffer& derived(Device& device, Stream& stream, const std::string& name,
                                      const std::function<Buffer(Device&, Stream&)>& make);

 private:
  struct OnOne {
    std::map<const void*, Buffer> columns;
    std::map<std::string, Buffer> derived;
  };

  [[nodiscard]] const Buffer& uploaded(Device& device, Stream& stream, const void* key,
                                       std::span<const std::byte> bytes);
  [[nodiscard]] OnOne& on(Device& device);

  const trace::Launch* launch_;
  std::mutex mutex_;
  std::map<Device*, OnOne> devices_;
};

/// The launch's device data, made at the first call. For one thread at a time.
[[nodiscard]] LaunchOnDevice& on_devices(trace::AcceleratedLaunch& launch);

}  // namespace rayreplay::kernels
