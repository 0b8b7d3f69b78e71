#include "endings.hpp"

#include <cstdio>
#include <vector>

#include "Query.spv.hpp"
#include "vulkan_context.hpp"

namespace scenario {
namespace {

VkDevice make_device(VkInstance instance, const std::vector<const char*>& extensions, const void* features) {
  std::uint32_t count = 1;
  VkPhysicalDevice physical = VK_NULL_HANDLE;
  vkEnumeratePhysicalDevices(instance, &count, &physical);
  const float priority = 1;
  VkDeviceQueueCreateInfo queue{};
  queue.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO;
  queue.queueCount = 1;
  queue.pQueuePriorities = &priority;
  VkDeviceCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO;
  info.pNext = features;
  info.queueCreateInfoCount = 1;
  info.pQueueCreateInfos = &queue;
  info.enabledExtensionCount = static_cast<std::uint32_t>(extensions.size());
  info.ppEnabledExtensionNames = extensions.data();
  VkDevice device = VK_NULL_HANDLE;
  check(vkCreateDevice(physical, &info, nullptr, &device), "vkCreateDevice");
  return device;
}

}  // namespace

void no_device() {
  vkDestroyInstance(make_instance(), nullptr);
  std::puts("no device");
}

void plain_device() {
  auto* instance = make_instance();
  vkDestroyDevice(make_device(instance, {}, nullptr), nullptr);
  vkDestroyInstance(instance, nullptr);
  std::puts("no ray tracing");
}

void ray_queries(bool with_pipelines) {
  VkPhysicalDeviceVulkan12Features core{};
  core.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES;
  core.bufferDeviceAddress = VK_TRUE;
  VkPhysicalDeviceAccelerationStructureFeaturesKHR structures{};
  structures.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ACCELERATION_STRUCTURE_FEATURES_KHR;
  structures.pNext = &core;
  structures.accelerationStructure = VK_TRUE;
  VkPhysicalDeviceRayQueryFeaturesKHR queries{};
  queries.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_RAY_QUERY_FEATURES_KHR;
  queries.pNext = &structures;
  queries.rayQuery = VK_TRUE;
  VkPhysicalDeviceRayTracingPipelineFeaturesKHR tracing{};
  tracing.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_RAY_TRACING_PIPELINE_FEATURES_KHR;
  tracing.pNext = &queries;
  tracing.rayTracingPipeline = VK_TRUE;
  std::vector<const char*> extensions = {VK_KHR_ACCELERATION_STRUCTURE_EXTENSION_NAME,
                                         VK_KHR_DEFERRED_HOST_OPERATIONS_EXTENSION_NAME,
                                         VK_KHR_RAY_QUERY_EXTENSION_NAME};
  if (with_pipelines) {
    extensions.push_back(VK_KHR_RAY_TRACING_PIPELINE_EXTENSION_NAME);
  }
  auto* instance = make_instance();
  auto* device = make_device(instance, extensions, with_pipelines ? static_cast<const void*>(&tracing) : &queries);
  VkShaderModuleCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO;
  info.codeSize = sizeof kQuery;
  info.pCode = kQuery;
  VkShaderModule module = VK_NULL_HANDLE;
  check(vkCreateShaderModule(device, &info, nullptr, &module), "vkCreateShaderModule");
  vkDestroyShaderModule(device, module, nullptr);
  vkDestroyDevice(device, nullptr);
  vkDestroyInstance(instance, nullptr);
  std::puts("ray queries");
}

}  // namespace scenario
