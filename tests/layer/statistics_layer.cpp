// A Vulkan layer for tests, to be loaded below the capture layer: it gives the driver VK_KHR_pipeline_executable_
// properties, with made statistics.
//
// Each ray-tracing pipeline has an executable of each of its stages, "stage 0", "stage 1", … Its statistics, if the
// pipeline was made for them: "Register Count" (u64, 32 + 8 · stage), "spills" (bool), "balance" (i64, −5),
// "estimate" (f64, 0.25). The stack size of a shader is the number of bytes of its module, so that instrumented shaders
// have others than the application's. RAYREPLAY_TEST_STATISTICS=none: no executables; =fail: both functions fail.
#include <vulkan/vk_layer.h>
#include <vulkan/vulkan.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace rayreplay::test {
namespace {

PFN_vkGetInstanceProcAddr next_instance_proc = nullptr;
PFN_vkGetDeviceProcAddr next_device_proc = nullptr;
// Asked for when the instance is made: later, layers below may answer with this layer's own functions.
PFN_vkEnumerateDeviceExtensionProperties next_extensions = nullptr;
PFN_vkGetPhysicalDeviceFeatures2 next_features = nullptr;
PFN_vkCreateDevice next_create_device = nullptr;
PFN_vkCreateRayTracingPipelinesKHR next_create = nullptr;
PFN_vkCreateShaderModule next_create_module = nullptr;

struct Made {
  std::vector<VkShaderStageFlagBits> stages;
  bool statistics = false;
  std::vector<std::size_t> stacks;  ///< by group: of its only shader
};
std::mutex mutex;
std::map<VkPipeline, Made> pipelines;
std::map<VkShaderModule, std::size_t> modules;  // bytes
bool enabled = false;

std::string mode() {
  const char* text = std::getenv("RAYREPLAY_TEST_STATISTICS");
  return text == nullptr ? "" : text;
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
  next_instance_proc = link->u.pLayerInfo->pfnNextGetInstanceProcAddr;
  link->u.pLayerInfo = link->u.pLayerInfo->pNext;
  const auto create = reinterpret_cast<PFN_vkCreateInstance>(next_instance_proc(VK_NULL_HANDLE, "vkCreateInstance"));
  const auto result = create(info, allocator, handle);
  if (result == VK_SUCCESS) {
    const auto next = [&](auto& function, const char* name) {
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(next_instance_proc(*handle, name));
    };
    next(next_extensions, "vkEnumerateDeviceExtensionProperties");
    next(next_features, "vkGetPhysicalDeviceFeatures2");
    next(next_create_device, "vkCreateDevice");
  }
  return result;
}

VKAPI_ATTR VkResult VKAPI_CALL enumerate_extensions(VkPhysicalDevice physical, const char* layer, std::uint32_t* count,
                                                    VkExtensionProperties* given) {
  if (layer != nullptr) {
    return next_extensions(physical, layer, count, given);
  }
  std::uint32_t all = 0;
  next_extensions(physical, nullptr, &all, nullptr);
  std::vector<VkExtensionProperties> extensions(all);
  next_extensions(physical, nullptr, &all, extensions.data());
  VkExtensionProperties own{};
  std::strcpy(own.extensionName, VK_KHR_PIPELINE_EXECUTABLE_PROPERTIES_EXTENSION_NAME);
  extensions.push_back(own);
  if (given == nullptr) {
    *count = static_cast<std::uint32_t>(extensions.size());
    return VK_SUCCESS;
  }
  const bool whole = *count >= extensions.size();
  *count = whole ? static_cast<std::uint32_t>(extensions.size()) : *count;
  std::memcpy(given, extensions.data(), *count * sizeof *given);
  return whole ? VK_SUCCESS : VK_INCOMPLETE;
}

constexpr auto kFeature = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PIPELINE_EXECUTABLE_PROPERTIES_FEATURES_KHR;

VKAPI_ATTR void VKAPI_CALL get_features(VkPhysicalDevice physical, VkPhysicalDeviceFeatures2* features) {
  next_features(physical, features);
  for (auto* at = static_cast<VkBaseOutStructure*>(features->pNext); at != nullptr; at = at->pNext) {
    if (at->sType == kFeature) {
      reinterpret_cast<VkPhysicalDevicePipelineExecutablePropertiesFeaturesKHR*>(at)->pipelineExecutableInfo = VK_TRUE;
    }
  }
}

VKAPI_ATTR VkResult VKAPI_CALL create_device(VkPhysicalDevice physical, const VkDeviceCreateInfo* info,
                                             const VkAllocationCallbacks* allocator, VkDevice* handle) {
  auto* link = link_of<VkLayerDeviceCreateInfo>(info->pNext, VK_STRUCTURE_TYPE_LOADER_DEVICE_CREATE_INFO);
  next_device_proc = link->u.pLayerInfo->pfnNextGetDeviceProcAddr;
  link->u.pLayerInfo = link->u.pLayerInfo->pNext;
  auto asked = *info;
  std::vector<const char*> names;
  for (std::uint32_t i = 0; i < info->enabledExtensionCount; ++i) {
    const char* name = info->ppEnabledExtensionNames[i];
    if (std::strcmp(name, VK_KHR_PIPELINE_EXECUTABLE_PROPERTIES_EXTENSION_NAME) != 0) {
      names.push_back(name);
    }
  }
  bool feature = false;
  for (const auto* at = static_cast<const VkBaseInStructure*>(info->pNext); at != nullptr; at = at->pNext) {
    feature |=
        at->sType == kFeature &&
        reinterpret_cast<const VkPhysicalDevicePipelineExecutablePropertiesFeaturesKHR*>(at)->pipelineExecutableInfo ==
            VK_TRUE;
  }
  enabled = feature && names.size() < info->enabledExtensionCount;
  asked.enabledExtensionCount = static_cast<std::uint32_t>(names.size());
  asked.ppEnabledExtensionNames = names.data();
  const auto result = next_create_device(physical, &asked, allocator, handle);
  if (result == VK_SUCCESS) {
    next_create = reinterpret_cast<PFN_vkCreateRayTracingPipelinesKHR>(
        next_device_proc(*handle, "vkCreateRayTracingPipelinesKHR"));
    next_create_module = reinterpret_cast<PFN_vkCreateShaderModule>(next_device_proc(*handle, "vkCreateShaderModule"));
  }
  return result;
}

VKAPI_ATTR VkResult VKAPI_CALL create_module(VkDevice device, const VkShaderModuleCreateInfo* info,
                                             const VkAllocationCallbacks* allocator, VkShaderModule* made) {
  const auto result = next_create_module(device, info, allocator, made);
  const std::scoped_lock lock(mutex);
  if (result == VK_SUCCESS) {
    modules[*made] = info->codeSize;
  }
  return result;
}

/// The bytes of the modules of a pipeline's groups and of those of its libraries.
std::vector<std::size_t> stacks_of(const VkRayTracingPipelineCreateInfoKHR& info) {
  std::vector<std::size_t> stacks;
  for (std::uint32_t g = 0; g < info.groupCount; ++g) {
    const auto& group = info.pGroups[g];
    const std::uint32_t stage =
        group.generalShader != VK_SHADER_UNUSED_KHR ? group.generalShader : group.closestHitShader;
    stacks.push_back(stage < info.stageCount ? modules[info.pStages[stage].module] : 0);
  }
  for (std::uint32_t i = 0; info.pLibraryInfo != nullptr && i < info.pLibraryInfo->libraryCount; ++i) {
    const auto& library = pipelines[info.pLibraryInfo->pLibraries[i]].stacks;
    stacks.insert(stacks.end(), library.begin(), library.end());
  }
  return stacks;
}

VKAPI_ATTR VkDeviceSize VKAPI_CALL get_stack(VkDevice, VkPipeline pipeline, std::uint32_t group,
                                             VkShaderGroupShaderKHR) {
  const std::scoped_lock lock(mutex);
  return pipelines.at(pipeline).stacks.at(group);
}

VKAPI_ATTR VkResult VKAPI_CALL create_pipelines(VkDevice device, VkDeferredOperationKHR deferred, VkPipelineCache cache,
                                                std::uint32_t count, const VkRayTracingPipelineCreateInfoKHR* infos,
                                                const VkAllocationCallbacks* allocator, VkPipeline* made) {
  std::vector<VkRayTracingPipelineCreateInfoKHR> asked(infos, infos + count);
  for (auto& info : asked) {
    info.flags &= ~static_cast<VkPipelineCreateFlags>(VK_PIPELINE_CREATE_CAPTURE_STATISTICS_BIT_KHR);
  }
  const auto result = next_create(device, deferred, cache, count, asked.data(), allocator, made);
  const std::scoped_lock lock(mutex);
  for (std::uint32_t i = 0; i < count && result == VK_SUCCESS; ++i) {
    auto& known = pipelines[made[i]];
    known = {};
    known.statistics = (infos[i].flags & VK_PIPELINE_CREATE_CAPTURE_STATISTICS_BIT_KHR) != 0;
    known.stacks = stacks_of(infos[i]);
    for (std::uint32_t s = 0; s < infos[i].stageCount; ++s) {
      known.stages.push_back(infos[i].pStages[s].stage);
    }
  }
  return result;
}

/// Vulkan's way to give a list.
template <typename Item>
VkResult give(const std::vector<Item>& items, std::uint32_t* count, Item* to) {
  if (to == nullptr) {
    *count = static_cast<std::uint32_t>(items.size());
    return VK_SUCCESS;
  }
  const bool whole = *count >= items.size();
  *count = whole ? static_cast<std::uint32_t>(items.size()) : *count;
  for (std::uint32_t i = 0; i < *count; ++i) {
    to[i] = items[i];
  }
  return whole ? VK_SUCCESS : VK_INCOMPLETE;
}

/// Ends the program: the layer broke a rule of the specification.
void require(bool holds, const char* what) {
  if (!holds) {
    std::fprintf(stderr, "statistics layer: %s\n", what);
    std::abort();
  }
}

VKAPI_ATTR VkResult VKAPI_CALL get_executables(VkDevice, const VkPipelineInfoKHR* info, std::uint32_t* count,
                                               VkPipelineExecutablePropertiesKHR* to) {
  const std::scoped_lock lock(mutex);
  const Made& made = pipelines.at(info->pipeline);
  require(enabled, "the feature is not enabled");
  if (mode() == "fail") {
    return VK_ERROR_OUT_OF_HOST_MEMORY;
  }
  std::vector<VkPipelineExecutablePropertiesKHR> executables;
  for (std::size_t i = 0; i < made.stages.size() && mode() != "none"; ++i) {
    auto& executable = executables.emplace_back();
    executable.sType = VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_PROPERTIES_KHR;
    executable.stages = made.stages[i];
    executable.subgroupSize = 8;
    std::snprintf(executable.name, sizeof executable.name, "stage %zu", i);
    std::memset(executable.description, 'd', sizeof executable.description);  // without a zero: the layer must stop
  }
  return give(executables, count, to);
}

VKAPI_ATTR VkResult VKAPI_CALL get_statistics(VkDevice, const VkPipelineExecutableInfoKHR* info, std::uint32_t* count,
                                              VkPipelineExecutableStatisticKHR* to) {
  const std::scoped_lock lock(mutex);
  const Made& made = pipelines.at(info->pipeline);
  require(enabled, "the feature is not enabled");
  require(made.statistics, "the pipeline was not made for statistics");
  require(info->executableIndex < made.stages.size(), "there is no such executable");
  std::vector<VkPipelineExecutableStatisticKHR> statistics(4);
  const auto name = [&](std::size_t i, const char* text, VkPipelineExecutableStatisticFormatKHR format) {
    statistics[i].sType = VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_STATISTIC_KHR;
    std::strcpy(statistics[i].name, text);
    std::strcpy(statistics[i].description, "made for a test");
    statistics[i].format = format;
  };
  name(0, "Register Count", VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_UINT64_KHR);
  statistics[0].value.u64 = 32 + 8 * info->executableIndex;
  name(1, "spills", VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_BOOL32_KHR);
  statistics[1].value.b32 = VK_TRUE;
  name(2, "balance", VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_INT64_KHR);
  statistics[2].value.i64 = -5;
  name(3, "estimate", VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_FLOAT64_KHR);
  statistics[3].value.f64 = .25;
  return give(statistics, count, to);
}

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL device_proc(VkDevice device, const char* name) {
  const std::string_view wanted(name);
  if (wanted == "vkGetDeviceProcAddr") {
    return reinterpret_cast<PFN_vkVoidFunction>(device_proc);
  }
  if (wanted == "vkCreateRayTracingPipelinesKHR" && next_create != nullptr) {
    return reinterpret_cast<PFN_vkVoidFunction>(create_pipelines);
  }
  if (wanted == "vkCreateShaderModule" && next_create_module != nullptr) {
    return reinterpret_cast<PFN_vkVoidFunction>(create_module);
  }
  if (wanted == "vkGetRayTracingShaderGroupStackSizeKHR" && next_create != nullptr) {
    return reinterpret_cast<PFN_vkVoidFunction>(get_stack);
  }
  if (enabled && wanted == "vkGetPipelineExecutablePropertiesKHR") {
    return reinterpret_cast<PFN_vkVoidFunction>(get_executables);
  }
  if (enabled && wanted == "vkGetPipelineExecutableStatisticsKHR") {
    return reinterpret_cast<PFN_vkVoidFunction>(get_statistics);
  }
  return next_device_proc(device, name);
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
    return reinterpret_cast<PFN_vkVoidFunction>(enumerate_extensions);
  }
  if (wanted == "vkGetPhysicalDeviceFeatures2" || wanted == "vkGetPhysicalDeviceFeatures2KHR") {
    return reinterpret_cast<PFN_vkVoidFunction>(get_features);
  }
  return instance == VK_NULL_HANDLE ? nullptr : next_instance_proc(instance, name);
}

}  // namespace
}  // namespace rayreplay::test

extern "C" __attribute__((visibility("default"))) VKAPI_ATTR VkResult VKAPI_CALL
rayreplay_negotiate_statistics(VkNegotiateLayerInterface* interface) {
  interface->loaderLayerInterfaceVersion = 2;
  interface->pfnGetInstanceProcAddr = rayreplay::test::instance_proc;
  interface->pfnGetDeviceProcAddr = rayreplay::test::device_proc;
  interface->pfnGetPhysicalDeviceProcAddr = nullptr;
  return VK_SUCCESS;
}
