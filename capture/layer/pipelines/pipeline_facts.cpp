#include "capture/layer/pipelines/pipeline_facts.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <string>

#include "capture/layer/pipelines/shaders.hpp"
#include "capture/layer/process.hpp"

namespace rayreplay::layer {
namespace {

/// Shader modules that a pipeline is made of, destroyed at the end.
class Modules {
 public:
  explicit Modules(Device& device) : device_(device) {}
  Modules(const Modules&) = delete;
  Modules& operator=(const Modules&) = delete;
  ~Modules() {
    for (const auto& [words, module] : modules_) {
      device_.vk.DestroyShaderModule(device_.handle, module, nullptr);
    }
  }
  /// Null if the device refuses it.
  VkShaderModule of(const Words& words) {
    auto& module = modules_[&words];
    if (module == VK_NULL_HANDLE) {
      VkShaderModuleCreateInfo info{};
      info.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO;
      info.codeSize = words.size() * sizeof(std::uint32_t);
      info.pCode = words.data();
      if (device_.vk.CreateShaderModule(device_.handle, &info, nullptr, &module) != VK_SUCCESS) {
        module = VK_NULL_HANDLE;
      }
    }
    return module;
  }

 private:
  Device& device_;
  std::map<const Words*, VkShaderModule> modules_;
};

/// A recipe's chain with one more flag in its flags, of whichever kind they are. PipelineRecipe keeps no other
/// structures than these two.
class FlaggedInfo {
 public:
  FlaggedInfo(const VkRayTracingPipelineCreateInfoKHR& given, VkPipelineCreateFlags flag) : info(given) {
    constexpr auto kFlags2 = static_cast<VkStructureType>(kCreateFlags2Type);
    info.flags |= flag;
    info.pNext = nullptr;
    if (const auto* flags = find_in_chain<CreateFlags2>(given.pNext, kFlags2)) {
      flags_ = *flags;
      flags_.flags |= flag;
      flags_.next = nullptr;
      info.pNext = &flags_;
    }
    if (const auto* robustness = find_in_chain<VkPipelineRobustnessCreateInfoEXT>(
            given.pNext, VK_STRUCTURE_TYPE_PIPELINE_ROBUSTNESS_CREATE_INFO_EXT)) {
      robustness_ = *robustness;
      robustness_.pNext = info.pNext;
      info.pNext = &robustness_;
    }
  }
  FlaggedInfo(const FlaggedInfo&) = delete;
  FlaggedInfo& operator=(const FlaggedInfo&) = delete;

  VkRayTracingPipelineCreateInfoKHR info;

 private:
  CreateFlags2 flags_{};
  VkPipelineRobustnessCreateInfoEXT robustness_{};
};

std::string text_of(const char (&text)[VK_MAX_DESCRIPTION_SIZE]) {
  return {text, strnlen(text, sizeof text)};
}

/// `wanted`: a shader of the group; kNoShader: the group has none.
std::uint64_t stack_of(Device& device, VkPipeline pipeline, std::uint32_t group, std::uint16_t wanted,
                       VkShaderGroupShaderKHR shader) {
  return wanted == spool::kNoShader
             ? spool::kNoStack
             : device.vk.GetRayTracingShaderGroupStackSizeKHR(device.handle, pipeline, group, shader);
}

std::vector<spool::GroupStack> stacks_of(Device& device, VkPipeline pipeline, const PipelineRecord& record) {
  // Probes stand in the groups of the instrumented pipeline alone.
  std::uint16_t added = spool::kNoShader;
  if (options().observe_all) {
    if (const auto probe = device.shaders->probe(); !probe->entry_points.empty()) {
      added = probe->entry_points.front().shader;
    }
  }
  std::vector<spool::GroupStack> stacks;
  for (std::uint32_t i = 0; i < record.groups.size(); ++i) {
    const auto& group = record.groups[i];
    auto& stack = stacks.emplace_back();
    stack.general = group.general;
    stack.closest_hit = group.closest_hit;
    stack.any_hit = group.any_hit == added ? spool::kNoShader : group.any_hit;
    stack.intersection = group.intersection;
    stack.general_bytes = stack_of(device, pipeline, i, stack.general, VK_SHADER_GROUP_SHADER_GENERAL_KHR);
    stack.closest_hit_bytes = stack_of(device, pipeline, i, stack.closest_hit, VK_SHADER_GROUP_SHADER_CLOSEST_HIT_KHR);
    stack.any_hit_bytes = stack_of(device, pipeline, i, stack.any_hit, VK_SHADER_GROUP_SHADER_ANY_HIT_KHR);
    stack.intersection_bytes =
        stack_of(device, pipeline, i, stack.intersection, VK_SHADER_GROUP_SHADER_INTERSECTION_KHR);
  }
  return stacks;
}

spool::Statistic statistic_of(const VkPipelineExecutableStatisticKHR& given) {
  spool::Statistic statistic;
  statistic.name = text_of(given.name);
  statistic.description = text_of(given.description);
  switch (given.format) {
    case VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_BOOL32_KHR:
      statistic.format = spool::StatisticFormat::Bool;
      statistic.value = given.value.b32 != VK_FALSE ? 1 : 0;
      break;
    case VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_INT64_KHR:
      statistic.format = spool::StatisticFormat::Int64;
      std::memcpy(&statistic.value, &given.value.i64, sizeof statistic.value);
      break;
    case VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_FLOAT64_KHR:
      statistic.format = spool::StatisticFormat::Float64;
      std::memcpy(&statistic.value, &given.value.f64, sizeof statistic.value);
      break;
    default:
      statistic.format = spool::StatisticFormat::Uint64;
      statistic.value = given.value.u64;
      break;
  }
  return statistic;
}

std::vector<spool::Statistic> statistics_of(Device& device, VkPipeline pipeline, std::uint32_t executable) {
  VkPipelineExecutableInfoKHR info{};
  info.sType = VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_INFO_KHR;
  info.pipeline = pipeline;
  info.executableIndex = executable;
  std::uint32_t count = 0;
  auto result = device.vk.GetPipelineExecutableStatisticsKHR(device.handle, &info, &count, nullptr);
  std::vector<VkPipelineExecutableStatisticKHR> given(result == VK_SUCCESS ? count : 0);
  for (auto& statistic : given) {
    statistic.sType = VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_STATISTIC_KHR;
  }
  if (!given.empty()) {
    result = device.vk.GetPipelineExecutableStatisticsKHR(device.handle, &info, &count, given.data());
  }
  if (result != VK_SUCCESS) {
    note("pipeline facts: the driver gives no statistics of an executable (VkResult " + std::to_string(result) + ")");
    return {};
  }
  std::vector<spool::Statistic> statistics;
  std::transform(given.begin(), given.begin() + std::min<std::ptrdiff_t>(count, std::ssize(given)),
                 std::back_inserter(statistics), statistic_of);
  return statistics;
}

std::vector<spool::Executable> executables_of(Device& device, VkPipeline pipeline) {
  VkPipelineInfoKHR info{};
  info.sType = VK_STRUCTURE_TYPE_PIPELINE_INFO_KHR;
  info.pipeline = pipeline;
  std::uint32_t count = 0;
  auto result = device.vk.GetPipelineExecutablePropertiesKHR(device.handle, &info, &count, nullptr);
  std::vector<VkPipelineExecutablePropertiesKHR> given(result == VK_SUCCESS ? count : 0);
  for (auto& properties : given) {
    properties.sType = VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_PROPERTIES_KHR;
  }
  if (!given.empty()) {
    result = device.vk.GetPipelineExecutablePropertiesKHR(device.handle, &info, &count, given.data());
  }
  if (result != VK_SUCCESS) {
    note("pipeline facts: the driver gives no executables of a pipeline (VkResult " + std::to_string(result) + ")");
    return {};
  }
  if (given.empty()) {
    note("pipeline facts: the driver names no executables of a pipeline: there are no statistics of it");
  }
  std::vector<spool::Executable> executables;
  for (std::uint32_t i = 0; i < std::min<std::size_t>(count, given.size()); ++i) {
    auto& executable = executables.emplace_back();
    executable.name = text_of(given[i].name);
    executable.description = text_of(given[i].description);
    executable.stages = given[i].stages;
    executable.subgroup_size = given[i].subgroupSize;
    executable.statistics = statistics_of(device, pipeline, i);
  }
  return executables;
}

}  // namespace

std::shared_ptr<const PlainTwin> PlainTwin::make(Device& device, const PipelineRecipe& recipe,
                                                 const std::vector<std::shared_ptr<const PlainTwin>>& libraries) {
  Modules modules(device);
  std::vector<VkPipelineShaderStageCreateInfo> stages(recipe.info.pStages,
                                                      recipe.info.pStages + recipe.info.stageCount);
  for (std::size_t i = 0; i < stages.size(); ++i) {
    stages[i].module = modules.of(*recipe.sources[i].words);
    if (stages[i].module == VK_NULL_HANDLE) {
      return nullptr;
    }
  }
  FlaggedInfo wanted(recipe.info, device.statistics ? VK_PIPELINE_CREATE_CAPTURE_STATISTICS_BIT_KHR : 0);
  wanted.info.pStages = stages.data();
  VkPipelineLibraryCreateInfoKHR linked{};
  std::vector<VkPipeline> handles;
  if (recipe.info.pLibraryInfo != nullptr) {
    for (const auto& library : libraries) {
      if (!library) {
        return nullptr;
      }
      handles.push_back(library->handle());
    }
    linked = *recipe.info.pLibraryInfo;
    linked.pLibraries = handles.data();
    wanted.info.pLibraryInfo = &linked;
  }
  VkPipeline pipeline = VK_NULL_HANDLE;
  if (device.vk.CreateRayTracingPipelinesKHR(device.handle, VK_NULL_HANDLE, VK_NULL_HANDLE, 1, &wanted.info, nullptr,
                                             &pipeline) != VK_SUCCESS) {
    return nullptr;
  }
  try {
    return std::make_shared<PlainTwin>(device, pipeline);
  } catch (...) {
    device.vk.DestroyPipeline(device.handle, pipeline, nullptr);
    throw;
  }
}

PlainTwin::~PlainTwin() {
  device_.vk.DestroyPipeline(device_.handle, pipeline_, nullptr);
}

void spool_facts(Device& device, VkPipeline plain, const PipelineRecord& record, std::uint32_t recursion_depth) {
  spool::PipelineFacts facts;
  facts.device = device.number;
  facts.pipeline = record.number;
  facts.recursion_depth = recursion_depth;
  facts.dynamic_stack = record.dynamic_stack ? 1 : 0;
  facts.groups = stacks_of(device, plain, record);
  if (device.statistics) {
    facts.executables = executables_of(device, plain);
  }
  spool_block(facts);
}

}  // namespace rayreplay::layer
