// A Vulkan layer for tests that passes every call on and counts those of functions that the capture layer can call. To
// be loaded below it: what the driver is asked for beyond the application's own calls is the capture layer's doing.
#include <vulkan/vk_layer.h>
#include <vulkan/vulkan.h>

#include <map>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <tuple>

#include "tests/layer-faults/counts.hpp"
#include "tests/layer-faults/plan.hpp"

namespace rayreplay::test {
namespace {

Calls& calls() {
  static Calls none;
  static Calls* mapped = map_shared<Calls>(std::getenv(kCountsVariable));
  return mapped != nullptr ? *mapped : none;
}

struct Below {
  PFN_vkGetInstanceProcAddr instance_proc = nullptr;
  PFN_vkGetDeviceProcAddr device_proc = nullptr;
  VkInstance instance = VK_NULL_HANDLE;
  std::array<PFN_vkVoidFunction, kCounted> functions{};
};
std::shared_mutex mutex;
std::map<const void*, Below> known;

Below below(const void* object) {
  const std::shared_lock lock(mutex);
  const auto found = known.find(*static_cast<const void* const*>(object));
  return found == known.end() ? Below{} : found->second;
}

void keep(const void* object, const Below& next) {
  const std::scoped_lock lock(mutex);
  known[*static_cast<const void* const*>(object)] = next;
}

template <Counted Name, typename Function>
struct Wrapped;
template <Counted Name, typename Result, typename... Arguments>
struct Wrapped<Name, Result(VKAPI_PTR*)(Arguments...)> {
  static VKAPI_ATTR Result VKAPI_CALL call(Arguments... arguments) {
    constexpr auto kIndex = static_cast<std::size_t>(Name);
    ++calls().of.at(kIndex);
    const auto next = reinterpret_cast<Result(VKAPI_PTR*)(Arguments...)>(
        below(std::get<0>(std::make_tuple(arguments...))).functions.at(kIndex));
    return next(arguments...);
  }
};

PFN_vkVoidFunction wrapped(Counted name) {
  switch (name) {
#define X(command)       \
  case Counted::command: \
    return reinterpret_cast<PFN_vkVoidFunction>(Wrapped<Counted::command, PFN_vk##command>::call);
    RR_DEVICE_FUNCTIONS(X)
#undef X
    case Counted::Count:
      break;
  }
  return nullptr;
}

template <typename Info>
Info* link_of(const void* chain, VkStructureType type) {
  for (auto* at = static_cast<Info*>(const_cast<void*>(chain)); at != nullptr;
       at = static_cast<Info*>(const_cast<void*>(at->pNext))) {
    if (at->sType == type && at->function == VK_LAYER_LINK_INFO) {
      return at;
    }
  }
  return nullptr;
}

VKAPI_ATTR VkResult VKAPI_CALL create_instance(const VkInstanceCreateInfo* info, const VkAllocationCallbacks* allocator,
                                               VkInstance* handle) {
  auto* link = link_of<VkLayerInstanceCreateInfo>(info->pNext, VK_STRUCTURE_TYPE_LOADER_INSTANCE_CREATE_INFO);
  Below next;
  next.instance_proc = link->u.pLayerInfo->pfnNextGetInstanceProcAddr;
  link->u.pLayerInfo = link->u.pLayerInfo->pNext;
  const auto create = reinterpret_cast<PFN_vkCreateInstance>(next.instance_proc(VK_NULL_HANDLE, "vkCreateInstance"));
  const auto result = create(info, allocator, handle);
  if (result == VK_SUCCESS) {
    next.instance = *handle;
    keep(*handle, next);
  }
  return result;
}

VKAPI_ATTR VkResult VKAPI_CALL create_device(VkPhysicalDevice physical, const VkDeviceCreateInfo* info,
                                             const VkAllocationCallbacks* allocator, VkDevice* handle) {
  auto* link = link_of<VkLayerDeviceCreateInfo>(info->pNext, VK_STRUCTURE_TYPE_LOADER_DEVICE_CREATE_INFO);
  Below next = below(physical);
  next.device_proc = link->u.pLayerInfo->pfnNextGetDeviceProcAddr;
  link->u.pLayerInfo = link->u.pLayerInfo->pNext;
  const auto create = reinterpret_cast<PFN_vkCreateDevice>(next.instance_proc(next.instance, "vkCreateDevice"));
  const auto result = create(physical, info, allocator, handle);
  if (result == VK_SUCCESS) {
    for (std::size_t i = 0; i < kCounted; ++i) {
      for (const char* suffix : {"", "KHR", "EXT"}) {
        const std::string name = "vk" + std::string(bare_name(kCountedNames.at(i))) + suffix;
        if (auto& function = next.functions.at(i); function == nullptr) {
          function = next.device_proc(*handle, name.c_str());
        }
      }
    }
    keep(*handle, next);
  }
  return result;
}

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL device_proc(VkDevice device, const char* name) {
  const std::string_view wanted(name);
  if (wanted == "vkGetDeviceProcAddr") {
    return reinterpret_cast<PFN_vkVoidFunction>(device_proc);
  }
  const auto next = below(device).device_proc(device, name);
  for (std::size_t i = 0; next != nullptr && i < kCounted; ++i) {
    if (bare_name(kCountedNames.at(i)) == bare_name(wanted)) {
      return wrapped(static_cast<Counted>(i));
    }
  }
  return next;
}

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL instance_proc(VkInstance instance, const char* name) {
  const std::string_view wanted(name);
  if (wanted == "vkGetInstanceProcAddr") {
    return reinterpret_cast<PFN_vkVoidFunction>(instance_proc);
  }
  if (wanted == "vkCreateInstance") {
    return reinterpret_cast<PFN_vkVoidFunction>(create_instance);
  }
  if (wanted == "vkCreateDevice") {
    return reinterpret_cast<PFN_vkVoidFunction>(create_device);
  }
  if (wanted == "vkGetDeviceProcAddr") {
    return reinterpret_cast<PFN_vkVoidFunction>(device_proc);
  }
  return instance == VK_NULL_HANDLE ? nullptr : below(instance).instance_proc(instance, name);
}

}  // namespace
}  // namespace rayreplay::test

extern "C" __attribute__((visibility("default"))) VKAPI_ATTR VkResult VKAPI_CALL
rayreplay_negotiate_counts(VkNegotiateLayerInterface* interface) {
  interface->loaderLayerInterfaceVersion = 2;
  interface->pfnGetInstanceProcAddr = rayreplay::test::instance_proc;
  interface->pfnGetDeviceProcAddr = rayreplay::test::device_proc;
  interface->pfnGetPhysicalDeviceProcAddr = nullptr;
  return VK_SUCCESS;
}
