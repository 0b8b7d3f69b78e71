#include "capture/apps/framework/device.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "capture/apps/framework/device_choice.hpp"
#include "capture/apps/framework/result.hpp"

namespace rayreplay::apps {
namespace {

/// A family with compute, preferably also graphics: the usual main queue.
std::uint32_t choose_queue_family(VkPhysicalDevice device, bool* has_timestamps) {
  std::uint32_t count = 0;
  vkGetPhysicalDeviceQueueFamilyProperties(device, &count, nullptr);
  std::vector<VkQueueFamilyProperties> families(count);
  vkGetPhysicalDeviceQueueFamilyProperties(device, &count, families.data());
  for (const VkQueueFlags wanted :
       {VkQueueFlags{VK_QUEUE_COMPUTE_BIT | VK_QUEUE_GRAPHICS_BIT}, VkQueueFlags{VK_QUEUE_COMPUTE_BIT}}) {
    for (std::uint32_t family = 0; family < count; ++family) {
      if ((families[family].queueFlags & wanted) == wanted) {
        *has_timestamps = families[family].timestampValidBits != 0;
        return family;
      }
    }
  }
  throw Error(ErrorKind::Missing, {"the device has no queue that computes", "", "", "", ""});
}

VkDevice create_device(const DeviceCandidate& candidate, std::uint32_t family, const DeviceRequest& request) {
  const float priority = 1;
  VkDeviceQueueCreateInfo queue{};
  queue.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO;
  queue.queueFamilyIndex = family;
  queue.queueCount = 1;
  queue.pQueuePriorities = &priority;

  VkPhysicalDeviceRayTracingInvocationReorderFeaturesNV reorder{};
  reorder.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_RAY_TRACING_INVOCATION_REORDER_FEATURES_NV;
  reorder.rayTracingInvocationReorder = VK_TRUE;
  VkPhysicalDeviceRayTracingPipelineFeaturesKHR pipeline{};
  pipeline.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_RAY_TRACING_PIPELINE_FEATURES_KHR;
  pipeline.pNext = request.reorder ? &reorder : nullptr;
  pipeline.rayTracingPipeline = VK_TRUE;
  VkPhysicalDeviceAccelerationStructureFeaturesKHR structure{};
  structure.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ACCELERATION_STRUCTURE_FEATURES_KHR;
  structure.pNext = &pipeline;
  structure.accelerationStructure = VK_TRUE;
  VkPhysicalDeviceVulkan12Features vulkan12{};
  vulkan12.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES;
  vulkan12.pNext = &structure;
  vulkan12.bufferDeviceAddress = VK_TRUE;
  vulkan12.scalarBlockLayout = VK_TRUE;
  const VkBool32 images = request.images ? VK_TRUE : VK_FALSE;
  vulkan12.shaderSampledImageArrayNonUniformIndexing = images;
  vulkan12.shaderStorageImageArrayNonUniformIndexing = images;
  VkPhysicalDeviceFeatures2 features{};
  features.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2;
  features.pNext = &vulkan12;
  features.features.shaderInt64 = VK_TRUE;
  features.features.shaderFloat64 = request.float64 ? VK_TRUE : VK_FALSE;
  features.features.imageCubeArray = images;
  features.features.shaderSampledImageArrayDynamicIndexing = images;
  features.features.shaderStorageImageArrayDynamicIndexing = images;

  std::vector<const char*> extensions = required_extensions();
  if (request.reorder) {
    extensions.push_back(VK_NV_RAY_TRACING_INVOCATION_REORDER_EXTENSION_NAME);
  }
  VkDeviceCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO;
  info.pNext = &features;
  info.queueCreateInfoCount = 1;
  info.pQueueCreateInfos = &queue;
  info.enabledExtensionCount = static_cast<std::uint32_t>(extensions.size());
  info.ppEnabledExtensionNames = extensions.data();
  VkDevice device = VK_NULL_HANDLE;
  require_success(vkCreateDevice(candidate.device, &info, nullptr, &device), "vkCreateDevice");
  return device;
}

void require_features(const DeviceCandidate& candidate, const DeviceRequest& request) {
  if (request.reorder && !candidate.has(VK_NV_RAY_TRACING_INVOCATION_REORDER_EXTENSION_NAME)) {
    throw Error(ErrorKind::Missing,
                {"the device does not reorder threads (SER)", "--ser", candidate.properties.deviceName,
                 "a device with " VK_NV_RAY_TRACING_INVOCATION_REORDER_EXTENSION_NAME, "leave --ser out"});
  }
  if (request.float64 && !candidate.float64) {
    throw Error(ErrorKind::Missing, {"the device has no double precision in shaders", "--device",
                                     candidate.properties.deviceName, "shaderFloat64", "choose another device"});
  }
}

DeviceLimits read_limits(const DeviceCandidate& candidate, bool has_timestamps) {
  VkPhysicalDeviceAccelerationStructurePropertiesKHR structure{};
  structure.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ACCELERATION_STRUCTURE_PROPERTIES_KHR;
  VkPhysicalDeviceRayTracingPipelinePropertiesKHR pipeline{};
  pipeline.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_RAY_TRACING_PIPELINE_PROPERTIES_KHR;
  pipeline.pNext = &structure;
  VkPhysicalDeviceProperties2 properties{};
  properties.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2;
  properties.pNext = &pipeline;
  vkGetPhysicalDeviceProperties2(candidate.device, &properties);
  DeviceLimits limits;
  limits.name = candidate.properties.deviceName;
  limits.handle_size = pipeline.shaderGroupHandleSize;
  limits.handle_alignment = pipeline.shaderGroupHandleAlignment;
  limits.base_alignment = pipeline.shaderGroupBaseAlignment;
  limits.max_record_stride = pipeline.maxShaderGroupStride;
  limits.max_recursion = pipeline.maxRayRecursionDepth;
  limits.max_invocations = pipeline.maxRayDispatchInvocationCount;
  limits.max_image_side = properties.properties.limits.maxImageDimension2D;
  limits.scratch_alignment = structure.minAccelerationStructureScratchOffsetAlignment;
  limits.timestamp_ns = has_timestamps ? properties.properties.limits.timestampPeriod : 0;
  return limits;
}

template <class Function>
void load(VkDevice device, const char* name, Function& function) {
  function = reinterpret_cast<Function>(vkGetDeviceProcAddr(device, name));
  if (function == nullptr) {
    throw Error(ErrorKind::Internal, {"the driver lacks a function of an extension that it lists", name, "", "", ""});
  }
}

DeviceFunctions load_functions(VkDevice device) {
  DeviceFunctions f;
  load(device, "vkCreateAccelerationStructureKHR", f.create_acceleration_structure);
  load(device, "vkDestroyAccelerationStructureKHR", f.destroy_acceleration_structure);
  load(device, "vkGetAccelerationStructureBuildSizesKHR", f.build_sizes);
  load(device, "vkGetAccelerationStructureDeviceAddressKHR", f.acceleration_structure_address);
  load(device, "vkCmdBuildAccelerationStructuresKHR", f.cmd_build);
  load(device, "vkCmdCopyAccelerationStructureKHR", f.cmd_copy);
  load(device, "vkCmdWriteAccelerationStructuresPropertiesKHR", f.cmd_write_properties);
  load(device, "vkCreateRayTracingPipelinesKHR", f.create_pipelines);
  load(device, "vkGetRayTracingShaderGroupHandlesKHR", f.group_handles);
  load(device, "vkCmdTraceRaysKHR", f.cmd_trace_rays);
  return f;
}

}  // namespace

Device::Device(const DeviceRequest& request) {
  try {
    create(request);
  } catch (...) {
    destroy();
    throw;
  }
}

Device::~Device() {
  destroy();
}

void Device::create(const DeviceRequest& request) {
  instance_ = create_instance();
  const std::vector<DeviceCandidate> candidates = find_candidates(instance_);
  const DeviceCandidate& candidate = choose(candidates, request.device);
  require_features(candidate, request);
  physical_ = candidate.device;
  bool has_timestamps = false;
  const std::uint32_t family = choose_queue_family(physical_, &has_timestamps);
  limits_ = read_limits(candidate, has_timestamps);
  vkGetPhysicalDeviceMemoryProperties(physical_, &memory_);
  device_ = create_device(candidate, family, request);
  functions_ = load_functions(device_);
  vkGetDeviceQueue(device_, family, 0, &queue_);
  VkCommandPoolCreateInfo pool{};
  pool.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO;
  pool.flags = VK_COMMAND_POOL_CREATE_TRANSIENT_BIT;
  pool.queueFamilyIndex = family;
  require_success(vkCreateCommandPool(device_, &pool, nullptr, &pool_), "vkCreateCommandPool");
}

void Device::destroy() noexcept {
  if (device_ != VK_NULL_HANDLE) {
    vkDeviceWaitIdle(device_);
    vkDestroyCommandPool(device_, pool_, nullptr);
    vkDestroyDevice(device_, nullptr);
  }
  if (instance_ != VK_NULL_HANDLE) {
    vkDestroyInstance(instance_, nullptr);
  }
}

std::uint32_t Device::memory_type(std::uint32_t type_bits, VkMemoryPropertyFlags required,
                                  VkMemoryPropertyFlags preferred) const {
  for (const VkMemoryPropertyFlags wanted : {required | preferred, required}) {
    for (std::uint32_t type = 0; type < memory_.memoryTypeCount; ++type) {
      if ((type_bits >> type & 1U) != 0 && (memory_.memoryTypes[type].propertyFlags & wanted) == wanted) {
        return type;
      }
    }
  }
  throw Error(ErrorKind::Internal, {"the device has no memory of a kind that Vulkan promises", "", "", "", ""});
}

void Device::submit(const std::function<void(VkCommandBuffer)>& record) const {
  VkCommandBufferAllocateInfo allocation{};
  allocation.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO;
  allocation.commandPool = pool_;
  allocation.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY;
  allocation.commandBufferCount = 1;
  VkCommandBuffer commands = VK_NULL_HANDLE;
  require_success(vkAllocateCommandBuffers(device_, &allocation, &commands), "vkAllocateCommandBuffers");
  VkCommandBufferBeginInfo begin{};
  begin.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO;
  begin.flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT;
  require_success(vkBeginCommandBuffer(commands, &begin), "vkBeginCommandBuffer");
  record(commands);
  require_success(vkEndCommandBuffer(commands), "vkEndCommandBuffer");

  VkFenceCreateInfo fence_info{};
  fence_info.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO;
  VkFence fence = VK_NULL_HANDLE;
  require_success(vkCreateFence(device_, &fence_info, nullptr, &fence), "vkCreateFence");
  VkSubmitInfo info{};
  info.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO;
  info.commandBufferCount = 1;
  info.pCommandBuffers = &commands;
  VkResult result = vkQueueSubmit(queue_, 1, &info, fence);
  if (result == VK_SUCCESS) {
    result = vkWaitForFences(device_, 1, &fence, VK_TRUE, UINT64_MAX);
  }
  vkDestroyFence(device_, fence, nullptr);
  vkFreeCommandBuffers(device_, pool_, 1, &commands);
  require_success(result, "vkQueueSubmit");
}

std::vector<std::string> list_devices() {
  VkInstance instance = create_instance();
  std::vector<std::string> lines;
  const std::vector<DeviceCandidate> candidates = find_candidates(instance);
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    lines.push_back(describe(candidates, i));
  }
  vkDestroyInstance(instance, nullptr);
  return lines;
}

}  // namespace rayreplay::apps
