#include "vulkan_context.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace scenario {

void fail(const char* what, long code) {
  std::fprintf(stderr, "%s failed: %ld\n", what, code);
  std::exit(3);
}

void check(VkResult result, const char* what) {
  if (result != VK_SUCCESS) {
    fail(what, result);
  }
}

VkInstance make_instance() {
  VkApplicationInfo application{};
  application.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO;
  application.pApplicationName = "scenarios";
  application.apiVersion = VK_API_VERSION_1_3;
  VkInstanceCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO;
  info.pApplicationInfo = &application;
  VkInstance instance = VK_NULL_HANDLE;
  check(vkCreateInstance(&info, nullptr, &instance), "vkCreateInstance");
  return instance;
}

namespace {

VkPhysicalDevice choose(VkInstance instance) {
  std::uint32_t count = 0;
  vkEnumeratePhysicalDevices(instance, &count, nullptr);
  std::vector<VkPhysicalDevice> devices(count);
  vkEnumeratePhysicalDevices(instance, &count, devices.data());
  if (count == 0) {
    fail("vkEnumeratePhysicalDevices", 0);
  }
  return devices.front();
}

}  // namespace

Context::Context(VkInstance instance, FeatureStyle style) : physical(choose(instance)) {
  const float priority = 1;
  VkDeviceQueueCreateInfo queues{};
  queues.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO;
  queues.queueCount = 1;
  queues.pQueuePriorities = &priority;

  VkPhysicalDeviceRayTracingPipelineFeaturesKHR tracing{};
  tracing.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_RAY_TRACING_PIPELINE_FEATURES_KHR;
  tracing.rayTracingPipeline = VK_TRUE;
  tracing.rayTracingPipelineTraceRaysIndirect = VK_TRUE;
  VkPhysicalDeviceAccelerationStructureFeaturesKHR structures{};
  structures.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ACCELERATION_STRUCTURE_FEATURES_KHR;
  structures.pNext = &tracing;
  structures.accelerationStructure = VK_TRUE;
  VkPhysicalDeviceRayTracingMaintenance1FeaturesKHR maintenance{};
  maintenance.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_RAY_TRACING_MAINTENANCE_1_FEATURES_KHR;
  maintenance.pNext = &structures;
  maintenance.rayTracingMaintenance1 = VK_TRUE;
  maintenance.rayTracingPipelineTraceRaysIndirect2 = style == FeatureStyle::Indirect2 ? VK_TRUE : VK_FALSE;
  VkPhysicalDeviceGraphicsPipelineLibraryFeaturesEXT libraries{};
  libraries.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_GRAPHICS_PIPELINE_LIBRARY_FEATURES_EXT;
  libraries.pNext = &maintenance;
  libraries.graphicsPipelineLibrary = VK_TRUE;

  VkPhysicalDeviceVulkan12Features core{};
  core.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES;
  core.pNext = &libraries;
  core.bufferDeviceAddress = VK_TRUE;
  core.timelineSemaphore = VK_TRUE;
  VkPhysicalDeviceBufferDeviceAddressFeatures addresses{};
  addresses.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_BUFFER_DEVICE_ADDRESS_FEATURES;
  addresses.pNext = &libraries;
  addresses.bufferDeviceAddress = VK_TRUE;
  VkPhysicalDeviceTimelineSemaphoreFeatures timeline{};
  timeline.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TIMELINE_SEMAPHORE_FEATURES;
  timeline.pNext = &addresses;
  timeline.timelineSemaphore = VK_TRUE;
  VkPhysicalDeviceFeatures2 all{};
  all.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2;
  all.pNext = &timeline;
  VkPhysicalDeviceFeatures plain{};

  const char* extensions[] = {
      VK_KHR_RAY_TRACING_PIPELINE_EXTENSION_NAME,     VK_KHR_ACCELERATION_STRUCTURE_EXTENSION_NAME,
      VK_KHR_DEFERRED_HOST_OPERATIONS_EXTENSION_NAME, VK_KHR_RAY_TRACING_MAINTENANCE_1_EXTENSION_NAME,
      VK_KHR_PIPELINE_LIBRARY_EXTENSION_NAME,         VK_EXT_GRAPHICS_PIPELINE_LIBRARY_EXTENSION_NAME,
  };
  VkDeviceCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO;
  info.queueCreateInfoCount = 1;
  info.pQueueCreateInfos = &queues;
  info.enabledExtensionCount = std::size(extensions);
  info.ppEnabledExtensionNames = extensions;
  switch (style) {
    case FeatureStyle::Core12:
    case FeatureStyle::Indirect2:
      info.pNext = &core;
      break;
    case FeatureStyle::Individual:
      info.pNext = &all;
      break;
    case FeatureStyle::PlainFeatures:
      info.pNext = &timeline;
      info.pEnabledFeatures = &plain;
      break;
    case FeatureStyle::None:
      info.enabledExtensionCount = 0;
      break;
  }
  // What the application passes in must be as it was afterwards.
  const auto core_before = core;
  const auto all_before = all;
  const auto plain_before = plain;
  const auto info_before = info;
  check(vkCreateDevice(physical, &info, nullptr, &device), "vkCreateDevice");
  if (std::memcmp(&core, &core_before, sizeof core) != 0 || std::memcmp(&all, &all_before, sizeof all) != 0 ||
      std::memcmp(&plain, &plain_before, sizeof plain) != 0 || std::memcmp(&info, &info_before, sizeof info) != 0) {
    fail("keeping the application's memory as it is", 0);
  }
  vkGetDeviceQueue(device, 0, 0, &queue);
#define X(name) vk.name = reinterpret_cast<PFN_vk##name>(vkGetDeviceProcAddr(device, "vk" #name));
  SCENARIO_FUNCTIONS(X)
#undef X
  pool = make_pool();
  VkPhysicalDeviceRayTracingPipelinePropertiesKHR properties{};
  properties.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_RAY_TRACING_PIPELINE_PROPERTIES_KHR;
  VkPhysicalDeviceProperties2 everything{};
  everything.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2;
  everything.pNext = &properties;
  vkGetPhysicalDeviceProperties2(physical, &everything);
  handle_bytes = properties.shaderGroupHandleSize;
}

void Context::destroy() {
  vkDeviceWaitIdle(device);
  vkDestroyCommandPool(device, pool, nullptr);
  vkDestroyDevice(device, nullptr);
}

Buffer Context::make_buffer(VkDeviceSize bytes, VkBufferUsageFlags usage) {
  Buffer result;
  VkBufferCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO;
  info.size = bytes;
  info.usage = usage | VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT;
  check(vkCreateBuffer(device, &info, nullptr, &result.buffer), "vkCreateBuffer");
  VkMemoryRequirements needs{};
  vkGetBufferMemoryRequirements(device, result.buffer, &needs);
  VkPhysicalDeviceMemoryProperties memory{};
  vkGetPhysicalDeviceMemoryProperties(physical, &memory);
  constexpr auto kWanted = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
  std::uint32_t type = 0;
  while ((needs.memoryTypeBits >> type & 1U) == 0 || (memory.memoryTypes[type].propertyFlags & kWanted) != kWanted) {
    if (++type == memory.memoryTypeCount) {
      fail("finding host-visible memory", 0);
    }
  }
  VkMemoryAllocateFlagsInfo flags{};
  flags.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO;
  flags.flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT;
  VkMemoryAllocateInfo allocation{};
  allocation.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO;
  allocation.pNext = &flags;
  allocation.allocationSize = needs.size;
  allocation.memoryTypeIndex = type;
  check(vkAllocateMemory(device, &allocation, nullptr, &result.memory), "vkAllocateMemory");
  check(vkBindBufferMemory(device, result.buffer, result.memory, 0), "vkBindBufferMemory");
  check(vkMapMemory(device, result.memory, 0, VK_WHOLE_SIZE, 0, &result.data), "vkMapMemory");
  std::memset(result.data, 0, bytes);
  VkBufferDeviceAddressInfo address{};
  address.sType = VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO;
  address.buffer = result.buffer;
  result.address = vkGetBufferDeviceAddress(device, &address);
  return result;
}

void Context::free(Buffer& buffer) {
  vkDestroyBuffer(device, buffer.buffer, nullptr);
  vkFreeMemory(device, buffer.memory, nullptr);
  buffer = {};
}

VkCommandPool Context::make_pool() {
  VkCommandPoolCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO;
  info.flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT;
  VkCommandPool made = VK_NULL_HANDLE;
  check(vkCreateCommandPool(device, &info, nullptr, &made), "vkCreateCommandPool");
  return made;
}

VkCommandBuffer Context::allocate(VkCommandPool from, VkCommandBufferLevel level) {
  VkCommandBufferAllocateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO;
  info.commandPool = from;
  info.level = level;
  info.commandBufferCount = 1;
  VkCommandBuffer commands = VK_NULL_HANDLE;
  check(vkAllocateCommandBuffers(device, &info, &commands), "vkAllocateCommandBuffers");
  return commands;
}

void Context::submit_and_wait(VkCommandBuffer commands) {
  VkSubmitInfo info{};
  info.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO;
  info.commandBufferCount = 1;
  info.pCommandBuffers = &commands;
  check(vkQueueSubmit(queue, 1, &info, VK_NULL_HANDLE), "vkQueueSubmit");
  check(vkQueueWaitIdle(queue), "vkQueueWaitIdle");
}

void begin(VkCommandBuffer commands, VkCommandBufferUsageFlags flags) {
  VkCommandBufferBeginInfo info{};
  info.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO;
  info.flags = flags;
  check(vkBeginCommandBuffer(commands, &info), "vkBeginCommandBuffer");
}

void begin_secondary(VkCommandBuffer commands, VkCommandBufferUsageFlags flags) {
  VkCommandBufferInheritanceInfo inheritance{};
  inheritance.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_INHERITANCE_INFO;
  VkCommandBufferBeginInfo info{};
  info.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO;
  info.flags = flags;
  info.pInheritanceInfo = &inheritance;
  check(vkBeginCommandBuffer(commands, &info), "vkBeginCommandBuffer");
}

void end(VkCommandBuffer commands) {
  check(vkEndCommandBuffer(commands), "vkEndCommandBuffer");
}

}  // namespace scenario
