// A Vulkan layer for tests, to be loaded below the capture layer: it gives the driver VK_KHR_pipeline_executable_
// properties, with made statistics.
//
// Each ray-tracing pipeline has an executable of each of its stages, "stage 0", "stage 1", … Its statistics, if the
// pipeline was made for them: "Register Count" (u64, 32 + 8 · stage), "spills" (bool), "balance" (i64, −5),
// "estimate" (f64, 0.25). The stack size of a shader is the number of bytes of its module, so that instrumented shaders
// have others than the application's. RAYREPLAY_TEST_STATISTICS=none: no executables; =fail: both functions fail.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/test_layer.hpp"

namespace rayreplay::test {
namespace {

struct Made {
  std::vector<VkShaderStageFlagBits> stages;
  bool statistics = false;
  std::vector<std::size_t> stacks;  ///< by group: of its only shader
};
std::mutex mutex;
std::map<VkPipeline, Made> pipelines;
std::map<VkShaderModule, std::size_t> modules;  // bytes
bool enabled = false;

struct Next : Below {
  PFN_vkCreateRayTracingPipelinesKHR create_pipelines = nullptr;
  PFN_vkCreateShaderModule create_module = nullptr;
};

struct StatisticsLayer : TestLayer<StatisticsLayer, Next> {
  static VkResult make_device(Next& next, VkPhysicalDevice physical, const VkDeviceCreateInfo* info,
                              const VkAllocationCallbacks* allocator, VkDevice* handle);
  static void device_made(VkDevice device, Next& next);
  static PFN_vkVoidFunction device_function(const Next& next, std::string_view name, PFN_vkVoidFunction given);
  static PFN_vkVoidFunction instance_function(std::string_view name);
};

std::string mode() {
  const char* text = std::getenv("RAYREPLAY_TEST_STATISTICS");
  return text == nullptr ? "" : text;
}

constexpr const char* kExtension = VK_KHR_PIPELINE_EXECUTABLE_PROPERTIES_EXTENSION_NAME;
constexpr auto kFeature = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PIPELINE_EXECUTABLE_PROPERTIES_FEATURES_KHR;

VKAPI_ATTR void VKAPI_CALL get_features(VkPhysicalDevice physical, VkPhysicalDeviceFeatures2* features) {
  StatisticsLayer::below(physical).features(physical, features);
  for (auto* at = static_cast<VkBaseOutStructure*>(features->pNext); at != nullptr; at = at->pNext) {
    if (at->sType == kFeature) {
      reinterpret_cast<VkPhysicalDevicePipelineExecutablePropertiesFeaturesKHR*>(at)->pipelineExecutableInfo = VK_TRUE;
    }
  }
}

VKAPI_ATTR VkResult VKAPI_CALL get_extensions(VkPhysicalDevice physical, const char* layer, std::uint32_t* count,
                                              VkExtensionProperties* to) {
  return give_extensions_and(kExtension, StatisticsLayer::below(physical), physical, layer, count, to);
}

VkResult StatisticsLayer::make_device(Next& next, VkPhysicalDevice physical, const VkDeviceCreateInfo* info,
                                      const VkAllocationCallbacks* allocator, VkDevice* handle) {
  auto asked = *info;
  const auto names = names_without(kExtension, *info);
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
  return next.create_device(physical, &asked, allocator, handle);
}

void StatisticsLayer::device_made(VkDevice device, Next& next) {
  next.create_pipelines = next.of_device<PFN_vkCreateRayTracingPipelinesKHR>(device, "vkCreateRayTracingPipelinesKHR");
  next.create_module = next.of_device<PFN_vkCreateShaderModule>(device, "vkCreateShaderModule");
}

VKAPI_ATTR VkResult VKAPI_CALL create_module(VkDevice device, const VkShaderModuleCreateInfo* info,
                                             const VkAllocationCallbacks* allocator, VkShaderModule* made) {
  const auto result = StatisticsLayer::below(device).create_module(device, info, allocator, made);
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
  const auto result =
      StatisticsLayer::below(device).create_pipelines(device, deferred, cache, count, asked.data(), allocator, made);
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

PFN_vkVoidFunction StatisticsLayer::device_function(const Next& next, std::string_view name, PFN_vkVoidFunction given) {
  if (name == "vkCreateRayTracingPipelinesKHR" && next.create_pipelines != nullptr) {
    return as_void(create_pipelines);
  }
  if (name == "vkCreateShaderModule" && next.create_module != nullptr) {
    return as_void(create_module);
  }
  if (name == "vkGetRayTracingShaderGroupStackSizeKHR" && next.create_pipelines != nullptr) {
    return as_void(get_stack);
  }
  if (enabled && name == "vkGetPipelineExecutablePropertiesKHR") {
    return as_void(get_executables);
  }
  if (enabled && name == "vkGetPipelineExecutableStatisticsKHR") {
    return as_void(get_statistics);
  }
  return given;
}

PFN_vkVoidFunction StatisticsLayer::instance_function(std::string_view name) {
  if (name == "vkEnumerateDeviceExtensionProperties") {
    return as_void(get_extensions);
  }
  if (name == "vkGetPhysicalDeviceFeatures2" || name == "vkGetPhysicalDeviceFeatures2KHR") {
    return as_void(get_features);
  }
  return nullptr;
}

}  // namespace
}  // namespace rayreplay::test

extern "C" __attribute__((visibility("default"))) VKAPI_ATTR VkResult VKAPI_CALL
rayreplay_negotiate_statistics(VkNegotiateLayerInterface* interface) {
  return rayreplay::test::StatisticsLayer::negotiate(interface);
}
