// What Vulkan layers for tests share: they take their place in the loader's chains, know the next layer below by
// instance and device, and answer what every layer must answer itself.
//
// A layer is a struct that derives from TestLayer<itself, Next>, with Next derived from Below, and replaces those of
// the functions under "Replaced by layers" in which it differs. Its library exports a function that calls negotiate. A
// handle that the layer does not know gets a Next of null pointers. Safe for several threads.
// Source: Vulkan loader, "Layer Interface to the Loader", version 2.
#pragma once

#include <vulkan/vk_layer.h>
#include <vulkan/vulkan.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <mutex>
#include <shared_mutex>
#include <string_view>
#include <vector>

namespace rayreplay::test {

/// The next layer below, or the driver.
struct Below {
  PFN_vkGetInstanceProcAddr instance_proc = nullptr;
  PFN_vkGetDeviceProcAddr device_proc = nullptr;  ///< of a device only
  VkInstance instance = VK_NULL_HANDLE;
  // Asked for when the instance is made: later the loader answers with the functions above all layers.
  PFN_vkCreateDevice create_device = nullptr;
  PFN_vkEnumerateDeviceExtensionProperties extensions = nullptr;
  PFN_vkGetPhysicalDeviceFeatures2 features = nullptr;

  template <typename Function>
  [[nodiscard]] Function of_instance(const char* name) const {
    return reinterpret_cast<Function>(instance_proc(instance, name));
  }
  template <typename Function>
  [[nodiscard]] Function of_device(VkDevice device, const char* name) const {
    return reinterpret_cast<Function>(device_proc(device, name));
  }
};

template <typename Function>
PFN_vkVoidFunction as_void(Function* function) {
  return reinterpret_cast<PFN_vkVoidFunction>(function);
}

/// Vulkan's way to give a list.
template <typename Item>
VkResult give(const std::vector<Item>& items, std::uint32_t* count, Item* to) {
  const auto all = static_cast<std::uint32_t>(items.size());
  if (to == nullptr) {
    *count = all;
    return VK_SUCCESS;
  }
  *count = std::min(*count, all);
  std::copy_n(items.begin(), *count, to);
  return *count == all ? VK_SUCCESS : VK_INCOMPLETE;
}

/// vkEnumerateDeviceExtensionProperties of a driver that has one extension more than the one below.
inline VkResult give_extensions_and(const char* extension, const Below& next, VkPhysicalDevice physical,
                                    const char* layer, std::uint32_t* count, VkExtensionProperties* to) {
  if (layer != nullptr) {
    return next.extensions(physical, layer, count, to);
  }
  std::uint32_t number = 0;
  if (const auto result = next.extensions(physical, nullptr, &number, nullptr); result != VK_SUCCESS) {
    return result;
  }
  std::vector<VkExtensionProperties> all(number);
  if (const auto result = next.extensions(physical, nullptr, &number, all.data()); result != VK_SUCCESS) {
    return result;
  }
  auto& own = all.emplace_back();
  std::strcpy(own.extensionName, extension);
  own.specVersion = 1;
  return give(all, count, to);
}

/// The extensions that a device is asked for, without this one.
inline std::vector<const char*> names_without(std::string_view extension, const VkDeviceCreateInfo& info) {
  std::vector<const char*> names(info.ppEnabledExtensionNames,
                                 info.ppEnabledExtensionNames + info.enabledExtensionCount);
  std::erase_if(names, [&](const char* name) { return name == extension; });
  return names;
}

template <typename Layer, typename Next>
class TestLayer {
 public:
  static VkResult negotiate(VkNegotiateLayerInterface* interface) {
    interface->loaderLayerInterfaceVersion = 2;
    interface->pfnGetInstanceProcAddr = instance_proc;
    interface->pfnGetDeviceProcAddr = device_proc;
    interface->pfnGetPhysicalDeviceProcAddr = nullptr;
    return VK_SUCCESS;
  }

  /// object: an instance, a device, or what belongs to one and is dispatched (physical device, queue, command buffer).
  static Next below(const void* object) {
    const std::shared_lock lock(mutex);
    const auto found = known.find(*static_cast<const void* const*>(object));
    return found == known.end() ? Next{} : found->second;
  }

 protected:
  // Replaced by layers.

  static VkResult make_instance(PFN_vkCreateInstance create, const VkInstanceCreateInfo* info,
                                const VkAllocationCallbacks* allocator, VkInstance* handle) {
    return create(info, allocator, handle);
  }
  /// next.device_proc and next.create_device are those below; what the layer writes into next is kept for the device.
  static VkResult make_device(Next& next, VkPhysicalDevice physical, const VkDeviceCreateInfo* info,
                              const VkAllocationCallbacks* allocator, VkDevice* handle) {
    return next.create_device(physical, info, allocator, handle);
  }
  /// Once the instance, or the device, is made.
  static void instance_made(Next&) {}
  static void device_made(VkDevice, Next&) {}
  /// The layer's own function of this name; null: it has none. Functions of devices are not asked for here.
  static PFN_vkVoidFunction instance_function(std::string_view) {
    return nullptr;
  }
  /// The answer for a function of a device, where the layer below answers `given`.
  static PFN_vkVoidFunction device_function(const Next&, std::string_view, PFN_vkVoidFunction given) {
    return given;
  }

 private:
  inline static std::shared_mutex mutex;
  inline static std::map<const void*, Next> known;

  static void keep(const void* object, const Next& next) {
    const std::scoped_lock lock(mutex);
    known[*static_cast<const void* const*>(object)] = next;
  }

  template <typename Info>
  static Info* link_of(const void* chain, VkStructureType type) {
    for (auto* at = static_cast<Info*>(const_cast<void*>(chain)); at != nullptr;
         at = static_cast<Info*>(const_cast<void*>(at->pNext))) {
      if (at->sType == type && at->function == VK_LAYER_LINK_INFO) {
        return at;
      }
    }
    return nullptr;
  }

  static VKAPI_ATTR VkResult VKAPI_CALL create_instance(const VkInstanceCreateInfo* info,
                                                        const VkAllocationCallbacks* allocator, VkInstance* handle) {
    auto* link = link_of<VkLayerInstanceCreateInfo>(info->pNext, VK_STRUCTURE_TYPE_LOADER_INSTANCE_CREATE_INFO);
    Next next;
    next.instance_proc = link->u.pLayerInfo->pfnNextGetInstanceProcAddr;
    link->u.pLayerInfo = link->u.pLayerInfo->pNext;
    const auto create = next.template of_instance<PFN_vkCreateInstance>("vkCreateInstance");
    const auto result = Layer::make_instance(create, info, allocator, handle);
    if (result == VK_SUCCESS) {
      next.instance = *handle;
      next.create_device = next.template of_instance<PFN_vkCreateDevice>("vkCreateDevice");
      next.extensions =
          next.template of_instance<PFN_vkEnumerateDeviceExtensionProperties>("vkEnumerateDeviceExtensionProperties");
      next.features = next.template of_instance<PFN_vkGetPhysicalDeviceFeatures2>("vkGetPhysicalDeviceFeatures2");
      Layer::instance_made(next);
      keep(*handle, next);
    }
    return result;
  }

  static VKAPI_ATTR VkResult VKAPI_CALL create_device(VkPhysicalDevice physical, const VkDeviceCreateInfo* info,
                                                      const VkAllocationCallbacks* allocator, VkDevice* handle) {
    auto* link = link_of<VkLayerDeviceCreateInfo>(info->pNext, VK_STRUCTURE_TYPE_LOADER_DEVICE_CREATE_INFO);
    Next next = below(physical);
    next.device_proc = link->u.pLayerInfo->pfnNextGetDeviceProcAddr;
    link->u.pLayerInfo = link->u.pLayerInfo->pNext;
    const auto result = Layer::make_device(next, physical, info, allocator, handle);
    if (result == VK_SUCCESS) {
      Layer::device_made(*handle, next);
      keep(*handle, next);
    }
    return result;
  }

  static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL device_proc(VkDevice device, const char* name) {
    if (std::string_view(name) == "vkGetDeviceProcAddr") {
      return as_void(device_proc);
    }
    const Next next = below(device);
    return Layer::device_function(next, name, next.device_proc(device, name));
  }

  static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL instance_proc(VkInstance instance, const char* name) {
    const std::string_view wanted(name);
    if (wanted == "vkGetInstanceProcAddr") {
      return as_void(instance_proc);
    }
    if (wanted == "vkCreateInstance") {
      return as_void(create_instance);
    }
    if (wanted == "vkCreateDevice") {
      return as_void(create_device);
    }
    if (wanted == "vkGetDeviceProcAddr") {
      return as_void(device_proc);
    }
    if (instance == VK_NULL_HANDLE) {
      return nullptr;
    }
    const auto own = Layer::instance_function(wanted);
    return own != nullptr ? own : below(instance).instance_proc(instance, name);
  }
};

}  // namespace rayreplay::test
