#include "tests/layer-geometry/vulkan_program.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

#include "scene_rahit.spv.hpp"
#include "scene_rchit.spv.hpp"
#include "scene_rgen.spv.hpp"
#include "scene_rmiss.spv.hpp"

namespace rayreplay::layer::geometry {
namespace {

constexpr std::size_t kTableStride = 64;

void check(VkResult result, const char* what) {
  if (result != VK_SUCCESS) {
    throw std::runtime_error(std::string(what) + " failed with " + std::to_string(result));
  }
}

}  // namespace

VulkanProgram::VulkanProgram(const Environment& environment) {
  setenv("RAYREPLAY_CAPTURE_SPOOL", folder_.path().c_str(), 1);
  setenv("VK_ADD_LAYER_PATH", RAYREPLAY_LAYER_FOLDER, 1);
  // Layers that the caller asks for (validation, say) come below and see what ours makes of the calls.
  static const char* const kAsked = getenv("VK_INSTANCE_LAYERS");
  static const std::string kLayers =
      std::string("VK_LAYER_RAYREPLAY_capture") + (kAsked == nullptr ? "" : ":") + (kAsked == nullptr ? "" : kAsked);
  setenv("VK_INSTANCE_LAYERS", kLayers.c_str(), 1);
  for (const auto& [variable, value] : environment) {
    setenv(variable.c_str(), value.c_str(), 1);
    variables_.push_back(variable);
  }
  create_instance();
  create_device();
  create_pipeline();
}

VulkanProgram::~VulkanProgram() {
  vkDeviceWaitIdle(device);
  for (VkAccelerationStructureKHR structure : structures_) {
    DestroyAccelerationStructureKHR(device, structure, nullptr);
  }
  for (const auto& [buffer, memory] : buffers_) {
    vkDestroyBuffer(device, buffer, nullptr);
    vkFreeMemory(device, memory, nullptr);
  }
  for (auto at = cleanup_.rbegin(); at != cleanup_.rend(); ++at) {
    (*at)();
  }
  vkDestroyDevice(device, nullptr);
  vkDestroyInstance(instance_, nullptr);
  for (const std::string& variable : variables_) {
    unsetenv(variable.c_str());
  }
}

void VulkanProgram::create_instance() {
  VkApplicationInfo application{};
  application.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO;
  application.pApplicationName = "geometry test";
  application.apiVersion = VK_API_VERSION_1_3;
  const char* debug = VK_EXT_DEBUG_UTILS_EXTENSION_NAME;
  VkInstanceCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO;
  info.pApplicationInfo = &application;
  info.enabledExtensionCount = 1;
  info.ppEnabledExtensionNames = &debug;
  check(vkCreateInstance(&info, nullptr, &instance_), "vkCreateInstance");
}

void VulkanProgram::create_device() {
  std::uint32_t count = 0;
  vkEnumeratePhysicalDevices(instance_, &count, nullptr);
  std::vector<VkPhysicalDevice> devices(count);
  vkEnumeratePhysicalDevices(instance_, &count, devices.data());
  std::vector<const char*> extensions = {
      VK_KHR_ACCELERATION_STRUCTURE_EXTENSION_NAME, VK_KHR_RAY_TRACING_PIPELINE_EXTENSION_NAME,
      VK_KHR_DEFERRED_HOST_OPERATIONS_EXTENSION_NAME, VK_KHR_RAY_TRACING_MAINTENANCE_1_EXTENSION_NAME,
      VK_KHR_PUSH_DESCRIPTOR_EXTENSION_NAME};
  for (VkPhysicalDevice candidate : devices) {
    std::uint32_t known_count = 0;
    vkEnumerateDeviceExtensionProperties(candidate, nullptr, &known_count, nullptr);
    std::vector<VkExtensionProperties> known(known_count);
    vkEnumerateDeviceExtensionProperties(candidate, nullptr, &known_count, known.data());
    const bool all = std::all_of(extensions.begin(), extensions.end(), [&](const char* wanted) {
      return std::any_of(known.begin(), known.end(),
                         [&](const auto& has) { return std::strcmp(has.extensionName, wanted) == 0; });
    });
    if (all && physical == VK_NULL_HANDLE) {
      physical = candidate;
    }
  }
  if (physical == VK_NULL_HANDLE) {
    throw std::runtime_error("no device with ray-tracing pipelines");
  }
  const float priority = 1;
  VkDeviceQueueCreateInfo queue{};
  queue.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO;
  queue.queueFamilyIndex = family_;
  queue.queueCount = 1;
  queue.pQueuePriorities = &priority;
  VkPhysicalDeviceRayTracingMaintenance1FeaturesKHR maintenance{};
  maintenance.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_RAY_TRACING_MAINTENANCE_1_FEATURES_KHR;
  maintenance.rayTracingMaintenance1 = VK_TRUE;
  maintenance.rayTracingPipelineTraceRaysIndirect2 = VK_TRUE;
  VkPhysicalDeviceRayTracingPipelineFeaturesKHR rays{};
  rays.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_RAY_TRACING_PIPELINE_FEATURES_KHR;
  rays.pNext = &maintenance;
  rays.rayTracingPipeline = VK_TRUE;
  rays.rayTracingPipelineTraceRaysIndirect = VK_TRUE;
  VkPhysicalDeviceAccelerationStructureFeaturesKHR structures{};
  structures.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ACCELERATION_STRUCTURE_FEATURES_KHR;
  structures.pNext = &rays;
  structures.accelerationStructure = VK_TRUE;
  structures.descriptorBindingAccelerationStructureUpdateAfterBind = VK_TRUE;
  VkPhysicalDeviceVulkan12Features core{};
  core.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES;
  core.pNext = &structures;
  core.bufferDeviceAddress = VK_TRUE;
  core.descriptorIndexing = VK_TRUE;
  VkDeviceCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO;
  info.pNext = &core;
  info.queueCreateInfoCount = 1;
  info.pQueueCreateInfos = &queue;
  info.enabledExtensionCount = static_cast<std::uint32_t>(extensions.size());
  info.ppEnabledExtensionNames = extensions.data();
  check(vkCreateDevice(physical, &info, nullptr, &device), "vkCreateDevice");
  vkGetDeviceQueue(device, family_, 0, &queue_);
#define X(function)                                                                           \
  function = reinterpret_cast<PFN_vk##function>(vkGetDeviceProcAddr(device, "vk" #function)); \
  if ((function) == nullptr) {                                                                \
    throw std::runtime_error("the device has no vk" #function);                               \
  }
  RR_TEST_FUNCTIONS(X)
#undef X
  VkCommandPoolCreateInfo pool{};
  pool.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO;
  pool.flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT;
  pool.queueFamilyIndex = family_;
  check(vkCreateCommandPool(device, &pool, nullptr, &pool_), "vkCreateCommandPool");
  cleanup_.push_back([this] { vkDestroyCommandPool(device, pool_, nullptr); });
  VkCommandBufferAllocateInfo allocate{};
  allocate.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO;
  allocate.commandPool = pool_;
  allocate.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY;
  allocate.commandBufferCount = 1;
  check(vkAllocateCommandBuffers(device, &allocate, &commands_), "vkAllocateCommandBuffers");
}

TestBuffer VulkanProgram::buffer(VkDeviceSize bytes, VkBufferUsageFlags usage) {
  TestBuffer made;
  made.bytes = bytes;
  VkBufferCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO;
  info.size = bytes;
  info.usage = usage;
  check(vkCreateBuffer(device, &info, nullptr, &made.buffer), "vkCreateBuffer");
  VkMemoryRequirements needs{};
  vkGetBufferMemoryRequirements(device, made.buffer, &needs);
  VkPhysicalDeviceMemoryProperties memories{};
  vkGetPhysicalDeviceMemoryProperties(physical, &memories);
  constexpr VkMemoryPropertyFlags kWanted = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
  std::uint32_t type = 0;
  while (type < memories.memoryTypeCount && ((needs.memoryTypeBits >> type & 1U) == 0 ||
                                             (memories.memoryTypes[type].propertyFlags & kWanted) != kWanted)) {
    ++type;
  }
  const VkMemoryAllocateFlagsInfo flags{VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO, nullptr,
                                        VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT, 0};
  const VkMemoryAllocateInfo allocate{VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO, &flags, needs.size, type};
  VkDeviceMemory memory = VK_NULL_HANDLE;
  check(vkAllocateMemory(device, &allocate, nullptr, &memory), "vkAllocateMemory");
  check(vkBindBufferMemory(device, made.buffer, memory, 0), "vkBindBufferMemory");
  void* mapped = nullptr;
  check(vkMapMemory(device, memory, 0, VK_WHOLE_SIZE, 0, &mapped), "vkMapMemory");
  made.data = static_cast<std::uint8_t*>(mapped);
  std::memset(made.data, 0, bytes);
  const VkBufferDeviceAddressInfo address{VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO, nullptr, made.buffer};
  made.address = vkGetBufferDeviceAddress(device, &address);
  buffers_.emplace(made.buffer, memory);
  return made;
}

void VulkanProgram::destroy(const TestBuffer& buffer) {
  const auto found = buffers_.find(buffer.buffer);
  vkDestroyBuffer(device, found->first, nullptr);
  vkFreeMemory(device, found->second, nullptr);
  buffers_.erase(found);
}

VkCommandBuffer VulkanProgram::commands() {
  if (!recording_) {
    VkCommandBufferBeginInfo begin{};
    begin.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO;
    check(vkBeginCommandBuffer(commands_, &begin), "vkBeginCommandBuffer");
    recording_ = true;
  }
  return commands_;
}

void VulkanProgram::submit() {
  VkSubmitInfo info{};
  info.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO;
  info.commandBufferCount = 1;
  info.pCommandBuffers = &commands_;
  check(vkQueueSubmit(queue_, 1, &info, VK_NULL_HANDLE), "vkQueueSubmit");
  check(vkQueueWaitIdle(queue_), "vkQueueWaitIdle");
}

void VulkanProgram::run() {
  check(vkEndCommandBuffer(commands()), "vkEndCommandBuffer");
  recording_ = false;
  submit();
}

void VulkanProgram::run_again() {
  submit();
}

void VulkanProgram::barrier() {
  const VkMemoryBarrier all{VK_STRUCTURE_TYPE_MEMORY_BARRIER, nullptr, VK_ACCESS_MEMORY_WRITE_BIT,
                            VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT};
  vkCmdPipelineBarrier(commands(), VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, 0, 1, &all,
                       0, nullptr, 0, nullptr);
}

TestStructure VulkanProgram::create_structure(VkAccelerationStructureTypeKHR type, VkDeviceSize bytes) {
  TestStructure made;
  made.memory =
      buffer(bytes, VK_BUFFER_USAGE_ACCELERATION_STRUCTURE_STORAGE_BIT_KHR | VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT);
  return create_structure_at(type, made);
}

TestStructure VulkanProgram::create_structure_at(VkAccelerationStructureTypeKHR type, const TestStructure& at) {
  TestStructure made;
  made.memory = at.memory;
  VkAccelerationStructureCreateInfoKHR info{};
  info.sType = VK_STRUCTURE_TYPE_ACCELERATION_STRUCTURE_CREATE_INFO_KHR;
  info.buffer = made.memory.buffer;
  info.size = made.memory.bytes;
  info.type = type;
  check(CreateAccelerationStructureKHR(device, &info, nullptr, &made.handle), "vkCreateAccelerationStructureKHR");
  structures_.insert(made.handle);
  const VkAccelerationStructureDeviceAddressInfoKHR address{
      VK_STRUCTURE_TYPE_ACCELERATION_STRUCTURE_DEVICE_ADDRESS_INFO_KHR, nullptr, made.handle};
  made.address = GetAccelerationStructureDeviceAddressKHR(device, &address);
  return made;
}

void VulkanProgram::destroy(TestStructure& structure) {
  structures_.erase(structure.handle);
  DestroyAccelerationStructureKHR(device, structure.handle, nullptr);
  structure.handle = VK_NULL_HANDLE;
}

namespace {

VkAccelerationStructureBuildGeometryInfoKHR build_info(const BuildRequest& request) {
  VkAccelerationStructureBuildGeometryInfoKHR info{};
  info.sType = VK_STRUCTURE_TYPE_ACCELERATION_STRUCTURE_BUILD_GEOMETRY_INFO_KHR;
  info.type = request.type;
  info.flags = request.flags;
  info.mode = VK_BUILD_ACCELERATION_STRUCTURE_MODE_BUILD_KHR;
  info.geometryCount = static_cast<std::uint32_t>(request.geometries.size());
  info.pGeometries = request.geometries.data();
  return info;
}

}  // namespace

VkAccelerationStructureBuildSizesInfoKHR VulkanProgram::sizes(const BuildRequest& request) {
  const auto info = build_info(request);
  std::vector<std::uint32_t> counts;
  for (const auto& range : request.ranges) {
    counts.push_back(range.primitiveCount);
  }
  VkAccelerationStructureBuildSizesInfoKHR sizes{};
  sizes.sType = VK_STRUCTURE_TYPE_ACCELERATION_STRUCTURE_BUILD_SIZES_INFO_KHR;
  GetAccelerationStructureBuildSizesKHR(device, VK_ACCELERATION_STRUCTURE_BUILD_TYPE_DEVICE_KHR, &info, counts.data(),
                                        &sizes);
  return sizes;
}

void VulkanProgram::record_build(const BuildRequest& request, const TestStructure& to, const TestStructure* from) {
  auto info = build_info(request);
  info.dstAccelerationStructure = to.handle;
  if (from != nullptr) {
    info.mode = VK_BUILD_ACCELERATION_STRUCTURE_MODE_UPDATE_KHR;
    info.srcAccelerationStructure = from->handle;
  }
  const auto needed = sizes(request);
  info.scratchData.deviceAddress =
      buffer(std::max({needed.buildScratchSize, needed.updateScratchSize, VkDeviceSize{256}}),
             VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT)
          .address;
  const auto* ranges = request.ranges.data();
  CmdBuildAccelerationStructuresKHR(commands(), 1, &info, &ranges);
  barrier();
}

TestStructure VulkanProgram::built(const BuildRequest& request) {
  TestStructure made = create_structure(request.type, sizes(request).accelerationStructureSize);
  record_build(request, made);
  run();
  return made;
}

std::uint64_t VulkanProgram::property(const TestStructure& structure, VkQueryType type) {
  VkQueryPoolCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO;
  info.queryType = type;
  info.queryCount = 1;
  VkQueryPool pool = VK_NULL_HANDLE;
  check(vkCreateQueryPool(device, &info, nullptr, &pool), "vkCreateQueryPool");
  vkCmdResetQueryPool(commands(), pool, 0, 1);
  CmdWriteAccelerationStructuresPropertiesKHR(commands(), 1, &structure.handle, type, pool, 0);
  run();
  std::uint64_t value = 0;
  check(vkGetQueryPoolResults(device, pool, 0, 1, sizeof value, &value, sizeof value,
                              VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WAIT_BIT),
        "vkGetQueryPoolResults");
  vkDestroyQueryPool(device, pool, nullptr);
  return value;
}

void VulkanProgram::name(VkAccelerationStructureKHR structure, const char* text) {
  const VkDebugUtilsObjectNameInfoEXT info{VK_STRUCTURE_TYPE_DEBUG_UTILS_OBJECT_NAME_INFO_EXT, nullptr,
                                           VK_OBJECT_TYPE_ACCELERATION_STRUCTURE_KHR,
                                           reinterpret_cast<std::uint64_t>(structure), text};
  check(SetDebugUtilsObjectNameEXT(device, &info), "vkSetDebugUtilsObjectNameEXT");
}

void VulkanProgram::create_pipeline() {
  const VkDescriptorSetLayoutBinding bindings[] = {
      {0, VK_DESCRIPTOR_TYPE_ACCELERATION_STRUCTURE_KHR, 1, VK_SHADER_STAGE_RAYGEN_BIT_KHR, nullptr},
      {1, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1, VK_SHADER_STAGE_RAYGEN_BIT_KHR, nullptr}};
  const VkDescriptorBindingFlags late[] = {VK_DESCRIPTOR_BINDING_UPDATE_AFTER_BIND_BIT, 0};
  const VkDescriptorSetLayoutBindingFlagsCreateInfo flags{
      VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_BINDING_FLAGS_CREATE_INFO, nullptr, 2, late};
  const VkDescriptorSetLayoutCreateInfo layout{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO, &flags,
                                               VK_DESCRIPTOR_SET_LAYOUT_CREATE_UPDATE_AFTER_BIND_POOL_BIT, 2, bindings};
  check(vkCreateDescriptorSetLayout(device, &layout, nullptr, &set_layout), "vkCreateDescriptorSetLayout");
  cleanup_.push_back([this] { vkDestroyDescriptorSetLayout(device, set_layout, nullptr); });
  VkPipelineLayoutCreateInfo pipeline{};
  pipeline.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO;
  pipeline.setLayoutCount = 1;
  pipeline.pSetLayouts = &set_layout;
  check(vkCreatePipelineLayout(device, &pipeline, nullptr, &pipeline_layout), "vkCreatePipelineLayout");
  cleanup_.push_back([this] { vkDestroyPipelineLayout(device, pipeline_layout, nullptr); });

  std::vector<VkPipelineShaderStageCreateInfo> stages;
  const auto stage = [&](VkShaderStageFlagBits bit, const auto& words) {
    VkShaderModuleCreateInfo module{};
    module.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO;
    module.codeSize = sizeof words;
    module.pCode = words;
    VkPipelineShaderStageCreateInfo made{};
    made.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO;
    made.stage = bit;
    made.pName = "main";
    check(vkCreateShaderModule(device, &module, nullptr, &made.module), "vkCreateShaderModule");
    stages.push_back(made);
  };
  stage(VK_SHADER_STAGE_RAYGEN_BIT_KHR, kscene_rgen);
  stage(VK_SHADER_STAGE_MISS_BIT_KHR, kscene_rmiss);
  stage(VK_SHADER_STAGE_CLOSEST_HIT_BIT_KHR, kscene_rchit);
  stage(VK_SHADER_STAGE_ANY_HIT_BIT_KHR, kscene_rahit);
  VkRayTracingShaderGroupCreateInfoKHR groups[3] = {};
  for (std::uint32_t i = 0; i < 3; ++i) {
    groups[i].sType = VK_STRUCTURE_TYPE_RAY_TRACING_SHADER_GROUP_CREATE_INFO_KHR;
    groups[i].type = VK_RAY_TRACING_SHADER_GROUP_TYPE_GENERAL_KHR;
    groups[i].generalShader = i;
    groups[i].closestHitShader = groups[i].anyHitShader = groups[i].intersectionShader = VK_SHADER_UNUSED_KHR;
  }
  groups[2].type = VK_RAY_TRACING_SHADER_GROUP_TYPE_TRIANGLES_HIT_GROUP_KHR;
  groups[2].generalShader = VK_SHADER_UNUSED_KHR;
  groups[2].closestHitShader = 2;
  groups[2].anyHitShader = 3;
  VkRayTracingPipelineCreateInfoKHR info{};
  info.sType = VK_STRUCTURE_TYPE_RAY_TRACING_PIPELINE_CREATE_INFO_KHR;
  info.stageCount = static_cast<std::uint32_t>(stages.size());
  info.pStages = stages.data();
  info.groupCount = 3;
  info.pGroups = groups;
  info.maxPipelineRayRecursionDepth = 1;
  info.layout = pipeline_layout;
  check(CreateRayTracingPipelinesKHR(device, VK_NULL_HANDLE, VK_NULL_HANDLE, 1, &info, nullptr, &pipeline_),
        "vkCreateRayTracingPipelinesKHR");
  cleanup_.push_back([this] { vkDestroyPipeline(device, pipeline_, nullptr); });
  for (const auto& made : stages) {
    vkDestroyShaderModule(device, made.module, nullptr);
  }

  VkPhysicalDeviceRayTracingPipelinePropertiesKHR rays{};
  rays.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_RAY_TRACING_PIPELINE_PROPERTIES_KHR;
  VkPhysicalDeviceProperties2 properties{};
  properties.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2;
  properties.pNext = &rays;
  vkGetPhysicalDeviceProperties2(physical, &properties);
  const std::size_t size = rays.shaderGroupHandleSize;
  group_handles.resize(3 * size);
  check(GetRayTracingShaderGroupHandlesKHR(device, pipeline_, 0, 3, group_handles.size(), group_handles.data()),
        "vkGetRayTracingShaderGroupHandlesKHR");
  tables = buffer(3 * kTableStride,
                  VK_BUFFER_USAGE_SHADER_BINDING_TABLE_BIT_KHR | VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT);
  for (std::size_t i = 0; i < 3; ++i) {
    std::memcpy(tables.data + i * kTableStride, group_handles.data() + i * size, size);
    std::memset(tables.data + i * kTableStride + size, static_cast<int>(0xA0 + i), kTableStride - size);
  }
  results_ = buffer(sizeof(std::uint32_t) * kSide * kSide,
                    VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT);
  const VkDescriptorPoolSize sizes[] = {{VK_DESCRIPTOR_TYPE_ACCELERATION_STRUCTURE_KHR, 64},
                                        {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 64}};
  const VkDescriptorPoolCreateInfo pool{VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
                                        nullptr,
                                        VK_DESCRIPTOR_POOL_CREATE_UPDATE_AFTER_BIND_BIT,
                                        64,
                                        2,
                                        sizes};
  check(vkCreateDescriptorPool(device, &pool, nullptr, &descriptors_), "vkCreateDescriptorPool");
  cleanup_.push_back([this] { vkDestroyDescriptorPool(device, descriptors_, nullptr); });
}

VkDescriptorSet VulkanProgram::descriptor_set(VkAccelerationStructureKHR scene) {
  VkDescriptorSetAllocateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO;
  info.descriptorPool = descriptors_;
  info.descriptorSetCount = 1;
  info.pSetLayouts = &set_layout;
  VkDescriptorSet set = VK_NULL_HANDLE;
  check(vkAllocateDescriptorSets(device, &info, &set), "vkAllocateDescriptorSets");
  const VkDescriptorBufferInfo results{results_.buffer, 0, VK_WHOLE_SIZE};
  VkWriteDescriptorSet write{};
  write.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET;
  write.dstSet = set;
  write.dstBinding = 1;
  write.descriptorCount = 1;
  write.descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
  write.pBufferInfo = &results;
  vkUpdateDescriptorSets(device, 1, &write, 0, nullptr);
  if (scene != VK_NULL_HANDLE) {
    write_scene(set, scene);
  }
  return set;
}

void VulkanProgram::write_scene(VkDescriptorSet set, VkAccelerationStructureKHR scene) {
  const VkWriteDescriptorSetAccelerationStructureKHR structures{
      VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET_ACCELERATION_STRUCTURE_KHR, nullptr, 1, &scene};
  VkWriteDescriptorSet write{};
  write.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET;
  write.pNext = &structures;
  write.dstSet = set;
  write.descriptorCount = 1;
  write.descriptorType = VK_DESCRIPTOR_TYPE_ACCELERATION_STRUCTURE_KHR;
  vkUpdateDescriptorSets(device, 1, &write, 0, nullptr);
}

void VulkanProgram::bind(VkDescriptorSet set) {
  vkCmdBindDescriptorSets(commands(), VK_PIPELINE_BIND_POINT_RAY_TRACING_KHR, pipeline_layout, 0, 1, &set, 0, nullptr);
}

void VulkanProgram::bind_pipeline() {
  vkCmdBindPipeline(commands(), VK_PIPELINE_BIND_POINT_RAY_TRACING_KHR, pipeline_);
}

void VulkanProgram::record_launch() {
  bind_pipeline();
  const VkStridedDeviceAddressRegionKHR regions[] = {{tables.address, kTableStride, kTableStride},
                                                     {tables.address + kTableStride, kTableStride, kTableStride},
                                                     {tables.address + 2 * kTableStride, kTableStride, kTableStride},
                                                     {0, 0, 0}};
  CmdTraceRaysKHR(commands(), &regions[0], &regions[1], &regions[2], &regions[3], kSide, kSide, 1);
  barrier();
}

void VulkanProgram::launch(const TestStructure& scene) {
  bind(descriptor_set(scene.handle));
  record_launch();
  run();
}

std::vector<std::uint32_t> VulkanProgram::results() {
  std::vector<std::uint32_t> values(std::size_t{kSide} * kSide);
  std::memcpy(values.data(), results_.data, values.size() * sizeof(std::uint32_t));
  return values;
}

SpoolFile VulkanProgram::spool() const {
  return SpoolFile::newest(folder_.path());
}

VkAccelerationStructureGeometryKHR triangles(VkDeviceAddress vertices, VkFormat format, VkDeviceSize stride,
                                             std::uint32_t max_vertex, VkIndexType index_type, VkDeviceAddress indices,
                                             VkDeviceAddress transform, VkGeometryFlagsKHR flags) {
  VkAccelerationStructureGeometryKHR made{};
  made.sType = VK_STRUCTURE_TYPE_ACCELERATION_STRUCTURE_GEOMETRY_KHR;
  made.geometryType = VK_GEOMETRY_TYPE_TRIANGLES_KHR;
  made.flags = flags;
  auto& data = made.geometry.triangles;
  data.sType = VK_STRUCTURE_TYPE_ACCELERATION_STRUCTURE_GEOMETRY_TRIANGLES_DATA_KHR;
  data.vertexFormat = format;
  data.vertexData.deviceAddress = vertices;
  data.vertexStride = stride;
  data.maxVertex = max_vertex;
  data.indexType = index_type;
  data.indexData.deviceAddress = indices;
  data.transformData.deviceAddress = transform;
  return made;
}

VkAccelerationStructureGeometryKHR boxes(VkDeviceAddress data, VkDeviceSize stride, VkGeometryFlagsKHR flags) {
  VkAccelerationStructureGeometryKHR made{};
  made.sType = VK_STRUCTURE_TYPE_ACCELERATION_STRUCTURE_GEOMETRY_KHR;
  made.geometryType = VK_GEOMETRY_TYPE_AABBS_KHR;
  made.flags = flags;
  made.geometry.aabbs.sType = VK_STRUCTURE_TYPE_ACCELERATION_STRUCTURE_GEOMETRY_AABBS_DATA_KHR;
  made.geometry.aabbs.data.deviceAddress = data;
  made.geometry.aabbs.stride = stride;
  return made;
}

VkAccelerationStructureGeometryKHR instances(VkDeviceAddress data, bool pointers) {
  VkAccelerationStructureGeometryKHR made{};
  made.sType = VK_STRUCTURE_TYPE_ACCELERATION_STRUCTURE_GEOMETRY_KHR;
  made.geometryType = VK_GEOMETRY_TYPE_INSTANCES_KHR;
  made.geometry.instances.sType = VK_STRUCTURE_TYPE_ACCELERATION_STRUCTURE_GEOMETRY_INSTANCES_DATA_KHR;
  made.geometry.instances.data.deviceAddress = data;
  made.geometry.instances.arrayOfPointers = pointers ? VK_TRUE : VK_FALSE;
  return made;
}

VkAccelerationStructureInstanceKHR instance_of(const TestStructure& bottom, std::uint32_t custom_index,
                                               std::uint8_t flags) {
  VkAccelerationStructureInstanceKHR made{};
  made.transform.matrix[0][0] = made.transform.matrix[1][1] = made.transform.matrix[2][2] = 1;
  made.instanceCustomIndex = custom_index & 0xFFFFFFU;
  made.mask = 0xFF;
  made.flags = flags;
  made.accelerationStructureReference = bottom.address;
  return made;
}

}  // namespace rayreplay::layer::geometry
