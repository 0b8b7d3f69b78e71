#include "capture/layer/pipelines/pipeline_recipe.hpp"

#include <cstring>
#include <utility>

#include "capture/layer/device/device.hpp"
#include "capture/layer/pipelines/pipelines.hpp"

namespace rayreplay::layer {
namespace {

// Flags of the first creation only: derivation, failing early, replayed group handles, capture of data.
constexpr std::uint64_t kDropped = VK_PIPELINE_CREATE_DERIVATIVE_BIT |
                                   VK_PIPELINE_CREATE_FAIL_ON_PIPELINE_COMPILE_REQUIRED_BIT |
                                   VK_PIPELINE_CREATE_EARLY_RETURN_ON_FAILURE_BIT |
                                   VK_PIPELINE_CREATE_RAY_TRACING_SHADER_GROUP_HANDLE_CAPTURE_REPLAY_BIT_KHR |
                                   std::uint64_t{0x80000000};  // VK_PIPELINE_CREATE_2_CAPTURE_DATA_BIT_KHR

}  // namespace

std::size_t stage_struct_bytes(VkStructureType type) {
  switch (type) {
    case VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_REQUIRED_SUBGROUP_SIZE_CREATE_INFO:
      return sizeof(VkPipelineShaderStageRequiredSubgroupSizeCreateInfo);
    case VK_STRUCTURE_TYPE_DEBUG_UTILS_OBJECT_NAME_INFO_EXT:
      return sizeof(VkDebugUtilsObjectNameInfoEXT);
    case VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_MODULE_IDENTIFIER_CREATE_INFO_EXT:
      return sizeof(VkPipelineShaderStageModuleIdentifierCreateInfoEXT);
    case VK_STRUCTURE_TYPE_SHADER_MODULE_VALIDATION_CACHE_CREATE_INFO_EXT:
      return sizeof(VkShaderModuleValidationCacheCreateInfoEXT);
    case VK_STRUCTURE_TYPE_PIPELINE_ROBUSTNESS_CREATE_INFO_EXT:
      return sizeof(VkPipelineRobustnessCreateInfoEXT);
    default:
      return 0;
  }
}

std::uint64_t flags_of(const VkRayTracingPipelineCreateInfoKHR& info) {
  const auto* newer = find_in_chain<CreateFlags2>(info.pNext, static_cast<VkStructureType>(kCreateFlags2Type));
  return newer != nullptr ? newer->flags : info.flags;
}

StageSource source_of(Device& device, const VkPipelineShaderStageCreateInfo& stage) {
  StageSource source;
  if (stage.module != VK_NULL_HANDLE) {
    source.words = device.shaders->words(stage.module);
    source.name = device.name_of(reinterpret_cast<std::uint64_t>(stage.module));
    return source;
  }
  const auto* module =
      find_in_chain<VkShaderModuleCreateInfo>(stage.pNext, VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO);
  if (module == nullptr) {
    return source;
  }
  source.words = std::make_shared<const Words>(module->pCode, module->pCode + module->codeSize / sizeof(std::uint32_t));
  const auto* named =
      find_in_chain<VkDebugUtilsObjectNameInfoEXT>(stage.pNext, VK_STRUCTURE_TYPE_DEBUG_UTILS_OBJECT_NAME_INFO_EXT);
  source.name = named != nullptr && named->pObjectName != nullptr ? named->pObjectName : "";
  return source;
}

std::vector<StageSource> sources_of(Device& device, const VkRayTracingPipelineCreateInfoKHR& info) {
  std::vector<StageSource> sources;
  sources.reserve(info.stageCount);
  for (std::uint32_t i = 0; i < info.stageCount; ++i) {
    sources.push_back(source_of(device, info.pStages[i]));
  }
  return sources;
}

bool unlink(VkPipelineShaderStageCreateInfo& stage, const VkShaderModuleCreateInfo* module, StructCopies& copies) {
  const void* head = nullptr;
  const void** link = &head;
  for (const auto* at = static_cast<const VkBaseInStructure*>(stage.pNext);
       at != reinterpret_cast<const VkBaseInStructure*>(module); at = at->pNext) {
    const auto bytes = stage_struct_bytes(at->sType);
    if (bytes == 0) {
      return false;
    }
    auto& memory = copies.emplace_back(std::make_unique<std::max_align_t[]>(bytes / sizeof(std::max_align_t) + 1));
    std::memcpy(memory.get(), at, bytes);
    auto* copy = reinterpret_cast<VkBaseInStructure*>(memory.get());
    *link = copy;
    link = reinterpret_cast<const void**>(&copy->pNext);
  }
  *link = module->pNext;
  stage.pNext = head;
  return true;
}

void* PipelineRecipe::copy(const void* from, std::size_t bytes) {
  auto& memory = copies_.emplace_back(std::make_unique<std::max_align_t[]>(bytes / sizeof(std::max_align_t) + 1));
  std::memcpy(memory.get(), from, bytes);
  return memory.get();
}

bool PipelineRecipe::take_stage(const VkPipelineShaderStageCreateInfo& given) {
  auto& stage = stages_.emplace_back(given);
  stage.module = VK_NULL_HANDLE;
  stage.pNext = nullptr;
  for (const auto* at = static_cast<const VkBaseInStructure*>(given.pNext); at != nullptr; at = at->pNext) {
    switch (at->sType) {
      case VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO:
      case VK_STRUCTURE_TYPE_SHADER_MODULE_VALIDATION_CACHE_CREATE_INFO_EXT:
      case VK_STRUCTURE_TYPE_DEBUG_UTILS_OBJECT_NAME_INFO_EXT:
        // Words and name are in the source. Extensions of an inline module's create info are not copied.
        if (at->sType == VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO &&
            reinterpret_cast<const VkShaderModuleCreateInfo*>(at)->flags != 0) {
          return false;
        }
        break;
      case VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_REQUIRED_SUBGROUP_SIZE_CREATE_INFO:
      case VK_STRUCTURE_TYPE_PIPELINE_ROBUSTNESS_CREATE_INFO_EXT: {
        auto* own = static_cast<VkBaseInStructure*>(copy(at, stage_struct_bytes(at->sType)));
        own->pNext = static_cast<const VkBaseInStructure*>(stage.pNext);
        stage.pNext = own;
        break;
      }
      default:
        return false;
    }
  }
  stage.pName = names_.emplace_back(given.pName != nullptr ? given.pName : "").c_str();
  if (const auto* constants = given.pSpecializationInfo) {
    auto own = *constants;
    own.pMapEntries = copy_array(constants->pMapEntries, constants->mapEntryCount);
    own.pData = constants->dataSize != 0 ? copy(constants->pData, constants->dataSize) : nullptr;
    stage.pSpecializationInfo = copy_array(&own, 1);
  }
  return true;
}

bool PipelineRecipe::take(const VkRayTracingPipelineCreateInfoKHR& given) {
  info = given;
  info.flags &= ~static_cast<VkPipelineCreateFlags>(kDropped);
  info.basePipelineHandle = VK_NULL_HANDLE;
  info.basePipelineIndex = -1;
  info.pNext = nullptr;
  for (const auto* at = static_cast<const VkBaseInStructure*>(given.pNext); at != nullptr; at = at->pNext) {
    VkBaseInStructure* own = nullptr;
    if (static_cast<int>(at->sType) == kCreateFlags2Type) {
      auto* flags = static_cast<CreateFlags2*>(copy(at, sizeof(CreateFlags2)));
      flags->flags &= ~kDropped;
      own = reinterpret_cast<VkBaseInStructure*>(flags);
    } else if (at->sType == VK_STRUCTURE_TYPE_PIPELINE_ROBUSTNESS_CREATE_INFO_EXT) {
      own = static_cast<VkBaseInStructure*>(copy(at, sizeof(VkPipelineRobustnessCreateInfoEXT)));
    } else if (at->sType != VK_STRUCTURE_TYPE_PIPELINE_CREATION_FEEDBACK_CREATE_INFO) {
      return false;
    }
    if (own != nullptr) {
      own->pNext = static_cast<const VkBaseInStructure*>(info.pNext);
      info.pNext = own;
    }
  }
  stages_.reserve(given.stageCount);
  for (std::uint32_t i = 0; i < given.stageCount; ++i) {
    if (!sources[i].words || !take_stage(given.pStages[i])) {
      return false;
    }
  }
  groups_.assign(given.pGroups, given.pGroups + given.groupCount);
  for (auto& group : groups_) {
    if (group.pNext != nullptr) {
      return false;
    }
    group.pShaderGroupCaptureReplayHandle = nullptr;
  }
  info.pStages = stages_.data();
  info.pGroups = groups_.data();
  if (const auto* interface = given.pLibraryInterface) {
    if (interface->pNext != nullptr) {
      return false;
    }
    info.pLibraryInterface = copy_array(interface, 1);
  }
  if (const auto* linked = given.pLibraryInfo) {
    if (linked->pNext != nullptr) {
      return false;
    }
    auto own = *linked;
    own.pLibraries = copy_array(linked->pLibraries, linked->libraryCount);
    info.pLibraryInfo = copy_array(&own, 1);
  }
  if (const auto* dynamic = given.pDynamicState) {
    if (dynamic->pNext != nullptr) {
      return false;
    }
    auto own = *dynamic;
    own.pDynamicStates = copy_array(dynamic->pDynamicStates, dynamic->dynamicStateCount);
    info.pDynamicState = copy_array(&own, 1);
  }
  for (const auto& library : libraries) {
    if (!library || !library->variant) {
      return false;  // the library is instrumented itself, or unknown
    }
  }
  return true;
}

std::shared_ptr<const PipelineRecipe> keep(const VkRayTracingPipelineCreateInfoKHR& given,
                                           std::vector<StageSource> sources, LibraryRecords libraries) {
  auto recipe = std::make_shared<PipelineRecipe>();
  recipe->sources = std::move(sources);
  recipe->libraries = std::move(libraries);
  return recipe->take(given) ? recipe : nullptr;
}

}  // namespace rayreplay::layer
