#include "kernels/launch_on_device.hpp"

#include <algorithm>

namespace rayreplay::kernels {

LaunchOnDevice::OnOne& LaunchOnDevice::on(Device& device) {
  const std::scoped_lock lock(mutex_);
  return devices_[&device];
}

const Buffer& LaunchOnDevice::uploaded(Device& device, Stream& stream, const void* key,
                                       std::span<const std::byte> bytes) {
  OnOne& one = on(device);
  const auto found = one.columns.find(key);
  if (found != one.columns.end() && found->second.bytes() >= bytes.size()) {
    return found->second;
  }
  Buffer buffer = device.allocate(bytes.size(), "a column of the launch");
  stream.upload(buffer, bytes);
  return one.columns[key] = std::move(buffer);
}

const Buffer& LaunchOnDevice::derived(Device& device, Stream& stream, const std::string& name,
                                      const std::function<Buffer(Device&, Stream&)>& make) {
  OnOne& one = on(device);
  const auto found = one.derived.find(name);
  if (found != one.derived.end()) {
    return found->second;
  }
  Buffer buffer = make(device, stream);
  return on(device).derived.emplace(name, std::move(buffer)).first->second;
}

LaunchOnDevice& on_devices(trace::AcceleratedLaunch& launch) {
  DeviceSlot& kept = launch.on_devices();
  if (kept == nullptr) {
    kept = std::make_shared<LaunchOnDevice>(launch.launch());
  }
  return *static_cast<LaunchOnDevice*>(kept.get());
}

}  // namespace rayreplay::kernels
