#include "capture/layer/dispatch.hpp"

#include <string>

namespace rayreplay::layer {
namespace {

/// `name` without suffix first, then with those under which older versions had it.
template <typename Look>
PFN_vkVoidFunction find(const std::string& name, const Look& look) {
  for (const char* suffix : {"", "KHR", "EXT"}) {
    if (const auto function = look((name + suffix).c_str())) {
      return function;
    }
  }
  return nullptr;
}

}  // namespace

void InstanceDispatch::load(VkInstance instance, PFN_vkGetInstanceProcAddr next) {
  GetInstanceProcAddr = next;
  const auto look = [&](const char* name) { return next(instance, name); };
#define X(name) name = reinterpret_cast<PFN_vk##name>(find("vk" #name, look));
  RR_INSTANCE_FUNCTIONS(X)
#undef X
}

void DeviceDispatch::load(VkDevice device, PFN_vkGetDeviceProcAddr next) {
  GetDeviceProcAddr = next;
  const auto look = [&](const char* name) { return next(device, name); };
#define X(name) name = reinterpret_cast<PFN_vk##name>(find("vk" #name, look));
  RR_DEVICE_FUNCTIONS(X)
#undef X
}

}  // namespace rayreplay::layer
