// The layer's entry: negotiation with the loader, creation and destruction of instances and devices.
#include <vulkan/vk_layer.h>
#include <vulkan/vulkan.h>

#include <cstdlib>
#include <cstring>
#include <string_view>

#include "capture/layer/device/device_create.hpp"
#include "capture/layer/intercepts.hpp"
#include "capture/layer/process.hpp"

namespace rayreplay::layer {
namespace {

constexpr const char* kLayerName = "VK_LAYER_RAYREPLAY_capture";

/// The loader's structure of this kind in its chain; null if there is none.
template <typename Info, typename Function>
Info* loader_info(const void* chain, VkStructureType type, Function function) {
  // Layers are meant to advance the loader's structures.
  for (auto* at = static_cast<Info*>(const_cast<void*>(chain)); at != nullptr;
       at = static_cast<Info*>(const_cast<void*>(at->pNext))) {
    if (at->sType == type && at->function == function) {
      return at;
    }
  }
  return nullptr;
}

/// Null if it is unknown.
Instance* instance_of(const void* dispatchable) {
  auto& p = process();
  const std::shared_lock lock(p.objects_mutex);
  return p.instances.find(dispatch_key(dispatchable));
}

// If a create function returns an error, the loader destroys the objects of the next layers itself. The layer must then
// not destroy them too. It therefore allocates all it needs before it calls the next layer; after success there, the
// call succeeds.

/// Memory for an object of the layer, freed unless it is kept.
template <typename Object>
class Made {
 public:
  explicit Made(Registry<Object> Process::*registry) : registry_(registry) {
    auto& p = process();
    const std::scoped_lock lock(p.objects_mutex);
    object_ = (p.*registry_).make();
  }
  Made(const Made&) = delete;
  Made& operator=(const Made&) = delete;
  ~Made() {
    auto& p = process();
    const std::scoped_lock lock(p.objects_mutex);
    (p.*registry_).drop(object_);
  }
  Object* get() const {
    return object_;
  }
  void keep(const void* handle) {
    auto& p = process();
    const std::scoped_lock lock(p.objects_mutex);
    (p.*registry_).add(object_, dispatch_key(handle));
    object_ = nullptr;
  }

 private:
  Registry<Object> Process::*registry_;
  Object* object_ = nullptr;
};

VKAPI_ATTR VkResult VKAPI_CALL create_instance(const VkInstanceCreateInfo* info, const VkAllocationCallbacks* allocator,
                                               VkInstance* handle) {
  auto* link = loader_info<VkLayerInstanceCreateInfo>(info->pNext, VK_STRUCTURE_TYPE_LOADER_INSTANCE_CREATE_INFO,
                                                      VK_LAYER_LINK_INFO);
  if (link == nullptr || link->u.pLayerInfo == nullptr) {
    return VK_ERROR_INITIALIZATION_FAILED;
  }
  const auto next_proc = link->u.pLayerInfo->pfnNextGetInstanceProcAddr;
  const auto create = reinterpret_cast<PFN_vkCreateInstance>(next_proc(VK_NULL_HANDLE, "vkCreateInstance"));
  if (create == nullptr) {
    return VK_ERROR_INITIALIZATION_FAILED;
  }
  Made<Instance> made(&Process::instances);
  auto* instance = made.get();
  if (instance == nullptr) {
    return VK_ERROR_OUT_OF_HOST_MEMORY;
  }
  link->u.pLayerInfo = link->u.pLayerInfo->pNext;
  const auto result = create(info, allocator, handle);
  if (result != VK_SUCCESS) {
    return result;
  }
  instance->handle = *handle;
  instance->vk.load(*handle, next_proc);
  if (const auto* application = info->pApplicationInfo) {
    instance->api_version = application->apiVersion != 0 ? application->apiVersion : VK_API_VERSION_1_0;
    attempt("keeping an application's name", [&] {
      const auto text = [](const char* name) { return std::string(name != nullptr ? name : ""); };
      instance->application_name = text(application->pApplicationName);
      instance->engine_name = text(application->pEngineName);
    });
  }
  made.keep(*handle);
  return VK_SUCCESS;
}

VKAPI_ATTR void VKAPI_CALL destroy_instance(VkInstance handle, const VkAllocationCallbacks* allocator) {
  if (handle == VK_NULL_HANDLE) {
    return;
  }
  auto& p = process();
  PFN_vkDestroyInstance next = nullptr;
  {
    const std::scoped_lock lock(p.objects_mutex);
    if (auto* instance = p.instances.take(dispatch_key(handle))) {
      next = instance->vk.DestroyInstance;
      p.instances.drop(instance);
    }
  }
  if (next != nullptr) {
    next(handle, allocator);
  }
}

VKAPI_ATTR VkResult VKAPI_CALL create_device(VkPhysicalDevice physical, const VkDeviceCreateInfo* info,
                                             const VkAllocationCallbacks* allocator, VkDevice* handle) {
  auto* link = loader_info<VkLayerDeviceCreateInfo>(info->pNext, VK_STRUCTURE_TYPE_LOADER_DEVICE_CREATE_INFO,
                                                    VK_LAYER_LINK_INFO);
  const auto* callback = loader_info<VkLayerDeviceCreateInfo>(info->pNext, VK_STRUCTURE_TYPE_LOADER_DEVICE_CREATE_INFO,
                                                              VK_LOADER_DATA_CALLBACK);
  auto* instance = instance_of(physical);
  if (link == nullptr || link->u.pLayerInfo == nullptr || callback == nullptr || instance == nullptr) {
    return VK_ERROR_INITIALIZATION_FAILED;
  }
  const auto next_instance_proc = link->u.pLayerInfo->pfnNextGetInstanceProcAddr;
  const auto next_proc = link->u.pLayerInfo->pfnNextGetDeviceProcAddr;
  const auto create = reinterpret_cast<PFN_vkCreateDevice>(next_instance_proc(instance->handle, "vkCreateDevice"));
  if (create == nullptr) {
    return VK_ERROR_INITIALIZATION_FAILED;
  }
  Made<Device> made(&Process::devices);
  auto* device = made.get();
  if (device == nullptr) {
    return VK_ERROR_OUT_OF_HOST_MEMORY;
  }
  link->u.pLayerInfo = link->u.pLayerInfo->pNext;
  auto* const next_link = link->u.pLayerInfo;
  std::unique_ptr<DeviceRequest> request;
  bool with_additions =
      !process().inert && attempt("extending a device", [&] { request = extend_request(*instance, physical, *info); });
  with_additions = with_additions && request->observed() && request->enough;
  auto result = create(physical, with_additions ? &request->info : info, allocator, handle);
  if (result != VK_SUCCESS && with_additions) {
    with_additions = false;
    link->u.pLayerInfo = next_link;  // A lower layer may have advanced it.
    result = create(physical, info, allocator, handle);
  }
  if (result != VK_SUCCESS) {
    return result;
  }
  device->handle = *handle;
  device->physical = physical;
  device->instance = instance;
  device->vk.load(*handle, next_proc);
  device->set_loader_data = callback->u.pfnSetDeviceLoaderData;
  if (request) {
    attempt("following a device", [&] { set_up(*device, *request, with_additions, *info); });
  }
  made.keep(*handle);
  return VK_SUCCESS;
}

VKAPI_ATTR void VKAPI_CALL destroy_device(VkDevice handle, const VkAllocationCallbacks* allocator) {
  if (handle == VK_NULL_HANDLE) {
    return;
  }
  auto& p = process();
  Device* device = nullptr;
  {
    const std::scoped_lock lock(p.objects_mutex);
    device = p.devices.take(dispatch_key(handle));
  }
  if (device == nullptr) {
    return;
  }
  take_down(*device);
  device->vk.DestroyDevice(handle, allocator);
  const std::scoped_lock lock(p.objects_mutex);
  p.devices.drop(device);
}

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_device_proc_addr(VkDevice handle, const char* name);
VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_instance_proc_addr(VkInstance handle, const char* name);

VKAPI_ATTR VkResult VKAPI_CALL enumerate_layers(std::uint32_t* count, VkLayerProperties* layers) {
  if (layers == nullptr) {
    *count = 1;
    return VK_SUCCESS;
  }
  if (*count < 1) {
    return VK_INCOMPLETE;
  }
  *count = 1;
  layers[0] = {};
  std::strncpy(layers[0].layerName, kLayerName, VK_MAX_EXTENSION_NAME_SIZE - 1);
  std::strncpy(layers[0].description, "Records ray tracing", VK_MAX_DESCRIPTION_SIZE - 1);
  layers[0].specVersion = VK_API_VERSION_1_3;
  layers[0].implementationVersion = 1;
  return VK_SUCCESS;
}

VKAPI_ATTR VkResult VKAPI_CALL enumerate_instance_extensions(const char* layer, std::uint32_t* count,
                                                             VkExtensionProperties* /*extensions*/) {
  if (layer == nullptr || std::strcmp(layer, kLayerName) != 0) {
    return VK_ERROR_LAYER_NOT_PRESENT;
  }
  *count = 0;
  return VK_SUCCESS;
}

template <typename Function>
PFN_vkVoidFunction erased(Function* function) {
  return reinterpret_cast<PFN_vkVoidFunction>(function);
}

PFN_vkVoidFunction global_function(std::string_view name) {
  if (name == "vkGetInstanceProcAddr") {
    return erased(get_instance_proc_addr);
  }
  if (name == "vkCreateInstance") {
    return erased(create_instance);
  }
  if (name == "vkEnumerateInstanceLayerProperties") {
    return erased(enumerate_layers);
  }
  if (name == "vkEnumerateInstanceExtensionProperties") {
    return erased(enumerate_instance_extensions);
  }
  return nullptr;
}

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_device_proc_addr(VkDevice handle, const char* name) {
  const auto* device = device_of(handle);
  if (device == nullptr) {
    return nullptr;
  }
  const std::string_view wanted(name);
  if (wanted == "vkGetDeviceProcAddr") {
    return erased(get_device_proc_addr);
  }
  if (wanted == "vkDestroyDevice") {
    return erased(destroy_device);
  }
  const auto next = device->vk.GetDeviceProcAddr(handle, name);
  if (next == nullptr || !device->instrumented) {
    return next;  // Calls of unobserved devices bypass the layer.
  }
  const auto* own = find_intercept(wanted);
  return own != nullptr && own->passes_on(device->vk) ? own->function : next;
}

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_instance_proc_addr(VkInstance handle, const char* name) {
  const std::string_view wanted(name);
  if (const auto function = global_function(wanted)) {
    return function;
  }
  if (wanted == "vkDestroyInstance") {
    return erased(destroy_instance);
  }
  if (wanted == "vkCreateDevice") {
    return erased(create_device);
  }
  if (wanted == "vkGetDeviceProcAddr") {
    return erased(get_device_proc_addr);
  }
  if (wanted == "vkDestroyDevice") {
    return erased(destroy_device);
  }
  if (handle == VK_NULL_HANDLE) {
    return nullptr;
  }
  auto* instance = instance_of(handle);
  const auto next = instance != nullptr ? instance->vk.GetInstanceProcAddr(handle, name) : nullptr;
  if (next == nullptr) {
    return nullptr;
  }
  const auto* own = find_intercept(wanted);
  if (own == nullptr) {
    return next;
  }
  own->keep(*instance, next);
  return own->function;
}

}  // namespace
}  // namespace rayreplay::layer

extern "C" {

/// The only exported symbol.
__attribute__((visibility("default"))) VKAPI_ATTR VkResult VKAPI_CALL
vkNegotiateLoaderLayerInterfaceVersion(VkNegotiateLayerInterface* interface) {
  if (interface == nullptr || interface->sType != LAYER_NEGOTIATE_INTERFACE_STRUCT ||
      interface->loaderLayerInterfaceVersion < 2) {
    return VK_ERROR_INITIALIZATION_FAILED;
  }
  // The C++ library reserves memory for exceptions when it is loaded and uses it when the heap is exhausted. Without
  // that reserve, a lack of memory would end the program: the loader then continues without the layer.
  void* volatile memory = std::malloc(std::size_t{64} << 10U);
  if (memory == nullptr) {
    return VK_ERROR_INITIALIZATION_FAILED;
  }
  std::free(memory);
  interface->loaderLayerInterfaceVersion = 2;
  interface->pfnGetInstanceProcAddr = rayreplay::layer::get_instance_proc_addr;
  interface->pfnGetDeviceProcAddr = rayreplay::layer::get_device_proc_addr;
  interface->pfnGetPhysicalDeviceProcAddr = nullptr;
  return VK_SUCCESS;
}

}  // extern "C"
