#include "capture/layer/dispatch.hpp"

#include <array>
#include <cstring>
#include <string_view>

namespace rayreplay::layer {
namespace {

/// `name` without suffix first, then with those under which older versions had it.
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

void DeviceDispatch::load(VkDevice device, PFN_vkGetDeviceProcAddr next, VkInstance instance,
                          PFN_vkGetInstanceProcAddr instance_next) {
  GetDeviceProcAddr = next;
  const auto of_device = [&](const char* name) { return next(device, name); };
  const auto of_instance = [&](const char* name) { return instance_next(instance, name); };
  const auto load_one = [&](auto& function, const char* name) {
    const auto own = find(name, of_device);
    function.set(own, own != nullptr ? nullptr : find(name, of_instance));
  };
#define X(name) load_one(name, "vk" #name);
  RR_DEVICE_FUNCTIONS(X)
#undef X
#define X(name, type) load_one(name, "vk" #name);
  RR_NEWER_DEVICE_FUNCTIONS(X)
#undef X
}

}  // namespace rayreplay::layer
