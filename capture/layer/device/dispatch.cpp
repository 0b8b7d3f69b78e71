#include "capture/layer/device/dispatch.hpp"

#include <array>
#include <cstring>
#include <string_view>

namespace rayreplay::layer {
namespace {

/// Looks up `name` without suffix, then with the suffixes of older versions.
template <typename Look>
PFN_vkVoidFunction find(std::string_view name, const Look& look) {
  for (const std::string_view suffix : {"KHR", "EXT"}) {
    if (name.ends_with(suffix)) {
      name.remove_suffix(suffix.size());
    }
  }
  std::array<char, 128> whole{};  // The longest name of the registry has 63 characters.
  std::memcpy(whole.data(), name.data(), name.size());
  for (const char* suffix : {"", "KHR", "EXT"}) {
    std::memcpy(whole.data() + name.size(), suffix, std::strlen(suffix) + 1);
    if (const auto function = look(whole.data())) {
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
#define X(name) name.set(find("vk" #name, look));
  RR_DEVICE_FUNCTIONS(X)
#undef X
#define X(name, type) name.set(find("vk" #name, look));
  RR_NEWER_DEVICE_FUNCTIONS(X)
#undef X
}

}  // namespace rayreplay::layer
