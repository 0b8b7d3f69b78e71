// A Vulkan layer for tests, to be loaded below the capture layer: a device without VK_NV_ray_tracing_invocation_reorder
// says that it has it (with RAYREPLAY_TEST_HIT_OBJECTS=ext: VK_EXT_ray_tracing_invocation_reorder). A device that was
// made with the extension and its feature takes shader modules with inserted hit objects, which then run as
// undone_reordering.hpp says; any other device refuses such modules.
#include <vulkan/vk_layer.h>
#include <vulkan/vulkan.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string_view>
#include <vector>

#include "capture/spirv/module.hpp"
#include "tests/instrument/support/undone_reordering.hpp"

namespace rayreplay::test {
namespace {

/// VkPhysicalDeviceRayTracingInvocationReorderFeaturesEXT, which the headers do not have.
constexpr auto kFeaturesExt = static_cast<VkStructureType>(1000581000);

bool is_ext() {
  const char* form = std::getenv("RAYREPLAY_TEST_HIT_OBJECTS");
  return form != nullptr && std::string_view(form) == "ext";
}
const char* const kExtension =
    is_ext() ? "VK_EXT_ray_tracing_invocation_reorder" : VK_NV_RAY_TRACING_INVOCATION_REORDER_EXTENSION_NAME;
const VkStructureType kFeatures =
    is_ext() ? kFeaturesExt : VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_RAY_TRACING_INVOCATION_REORDER_FEATURES_NV;
const auto kCapability = is_ext() ? static_cast<spv::Capability>(5388) : spv::Capability::ShaderInvocationReorderNV;

struct Below {
  PFN_vkGetInstanceProcAddr instance_proc = nullptr;
  PFN_vkGetDeviceProcAddr device_proc = nullptr;
  VkInstance instance = VK_NULL_HANDLE;
  // Asked for when the instance is made: later the loader answers with the functions above all layers.
  PFN_vkEnumerateDeviceExtensionProperties extensions = nullptr;
  PFN_vkGetPhysicalDeviceFeatures2 features = nullptr;
  bool reorders = false;
};
std::mutex mutex;
std::map<const void*, Below> known;

Below below(const void* object) {
  const std::scoped_lock lock(mutex);
  const auto found = known.find(*static_cast<const void* const*>(object));
  return found == known.end() ? Below{} : found->second;
}

void keep(const void* object, const Below& next) {
  const std::scoped_lock lock(mutex);
  known[*static_cast<const void* const*>(object)] = next;
}

template <typename Function>
Function next_of(const Below& next, const char* name) {
  return reinterpret_cast<Function>(next.instance_proc(next.instance, name));
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
    next.extensions = next_of<PFN_vkEnumerateDeviceExtensionProperties>(next, "vkEnumerateDeviceExtensionProperties");
    next.features = next_of<PFN_vkGetPhysicalDeviceFeatures2>(next, "vkGetPhysicalDeviceFeatures2");
    keep(*handle, next);
  }
  return result;
}

VKAPI_ATTR VkResult VKAPI_CALL extensions(VkPhysicalDevice physical, const char* layer, std::uint32_t* count,
                                          VkExtensionProperties* properties) {
  const auto ask = below(physical).extensions;
  if (layer != nullptr) {
    return ask(physical, layer, count, properties);
  }
  std::uint32_t own = 0;
  if (const auto result = ask(physical, nullptr, &own, nullptr); result != VK_SUCCESS) {
    return result;
  }
  std::vector<VkExtensionProperties> all(own + 1);
  if (const auto result = ask(physical, nullptr, &own, all.data()); result != VK_SUCCESS) {
    return result;
  }
  std::strcpy(all[own].extensionName, kExtension);
  all[own].specVersion = 1;
  if (properties == nullptr) {
    *count = own + 1;
    return VK_SUCCESS;
  }
  *count = std::min(*count, own + 1);
  std::copy_n(all.begin(), *count, properties);
  return *count == own + 1 ? VK_SUCCESS : VK_INCOMPLETE;
}

/// The structure of the chain before the one with the feature's switch; null: there is none.
VkBaseOutStructure* before_features(const void* start) {
  for (auto* at = static_cast<VkBaseOutStructure*>(const_cast<void*>(start)); at != nullptr; at = at->pNext) {
    if (at->pNext != nullptr && at->pNext->sType == kFeatures) {
      return at;
    }
  }
  return nullptr;
}

VKAPI_ATTR void VKAPI_CALL features(VkPhysicalDevice physical, VkPhysicalDeviceFeatures2* all) {
  auto* before = before_features(all);
  VkBaseOutStructure* own = before == nullptr ? nullptr : before->pNext;
  if (own != nullptr) {
    before->pNext = own->pNext;
  }
  below(physical).features(physical, all);
  if (own != nullptr) {
    before->pNext = own;
    reinterpret_cast<VkPhysicalDeviceRayTracingInvocationReorderFeaturesNV*>(own)->rayTracingInvocationReorder =
        VK_TRUE;
  }
}

VKAPI_ATTR VkResult VKAPI_CALL create_device(VkPhysicalDevice physical, const VkDeviceCreateInfo* given,
                                             const VkAllocationCallbacks* allocator, VkDevice* handle) {
  auto* link = link_of<VkLayerDeviceCreateInfo>(given->pNext, VK_STRUCTURE_TYPE_LOADER_DEVICE_CREATE_INFO);
  Below next = below(physical);
  next.device_proc = link->u.pLayerInfo->pfnNextGetDeviceProcAddr;
  link->u.pLayerInfo = link->u.pLayerInfo->pNext;
  // The driver below knows neither the extension nor its features.
  VkDeviceCreateInfo info = *given;
  std::vector<const char*> names(given->ppEnabledExtensionNames,
                                 given->ppEnabledExtensionNames + given->enabledExtensionCount);
  const bool named = std::erase_if(names, [](const char* name) { return std::string_view(name) == kExtension; }) != 0;
  info.enabledExtensionCount = static_cast<std::uint32_t>(names.size());
  info.ppEnabledExtensionNames = names.data();
  auto* before = before_features(&info);
  VkBaseOutStructure* own = before == nullptr ? nullptr : before->pNext;
  if (own != nullptr) {
    next.reorders =
        named &&
        reinterpret_cast<VkPhysicalDeviceRayTracingInvocationReorderFeaturesNV*>(own)->rayTracingInvocationReorder ==
            VK_TRUE;
    before->pNext = own->pNext;
  }
  const auto create = next_of<PFN_vkCreateDevice>(next, "vkCreateDevice");
  const auto result = create(physical, &info, allocator, handle);
  if (own != nullptr) {
    before->pNext = own;
  }
  if (result == VK_SUCCESS) {
    keep(*handle, next);
  }
  return result;
}

VKAPI_ATTR VkResult VKAPI_CALL create_module(VkDevice device, const VkShaderModuleCreateInfo* info,
                                             const VkAllocationCallbacks* allocator, VkShaderModule* module) {
  const Below next = below(device);
  const auto create = reinterpret_cast<PFN_vkCreateShaderModule>(next.device_proc(device, "vkCreateShaderModule"));
  Words words(info->pCode, info->pCode + info->codeSize / 4);
  std::string reason;
  const auto parsed = spirv::parse(words, reason);
  if (!parsed || !parsed->has(kCapability)) {
    return create(device, info, allocator, module);
  }
  if (!next.reorders) {
    return VK_ERROR_INITIALIZATION_FAILED;
  }
  words = undone_reordering(is_ext() ? with_nv_hit_objects(words) : words);
  VkShaderModuleCreateInfo changed = *info;
  changed.pCode = words.data();
  changed.codeSize = words.size() * 4;
  return create(device, &changed, allocator, module);
}

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL device_proc(VkDevice device, const char* name) {
  const std::string_view wanted(name);
  if (wanted == "vkGetDeviceProcAddr") {
    return reinterpret_cast<PFN_vkVoidFunction>(device_proc);
  }
  if (wanted == "vkCreateShaderModule") {
    return reinterpret_cast<PFN_vkVoidFunction>(create_module);
  }
  return below(device).device_proc(device, name);
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
  if (wanted == "vkEnumerateDeviceExtensionProperties") {
    return reinterpret_cast<PFN_vkVoidFunction>(extensions);
  }
  if (wanted == "vkGetPhysicalDeviceFeatures2" || wanted == "vkGetPhysicalDeviceFeatures2KHR") {
    return reinterpret_cast<PFN_vkVoidFunction>(features);
  }
  return instance == VK_NULL_HANDLE ? nullptr : below(instance).instance_proc(instance, name);
}

}  // namespace
}  // namespace rayreplay::test

extern "C" __attribute__((visibility("default"))) VKAPI_ATTR VkResult VKAPI_CALL
rayreplay_negotiate_hit_objects(VkNegotiateLayerInterface* interface) {
  interface->loaderLayerInterfaceVersion = 2;
  interface->pfnGetInstanceProcAddr = rayreplay::test::instance_proc;
  interface->pfnGetDeviceProcAddr = rayreplay::test::device_proc;
  interface->pfnGetPhysicalDeviceProcAddr = nullptr;
  return VK_SUCCESS;
}
