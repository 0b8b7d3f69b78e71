#include "capture/layer/pipelines.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <deque>
#include <map>

#include "capture/layer/process.hpp"
#include "capture/layer/shaders.hpp"

namespace rayreplay::layer {
namespace {

// Newer than the headers that we build with.
constexpr int kCreateFlags2Type = 1000470005;
struct CreateFlags2 {
  VkStructureType type;
  const void* next;
  std::uint64_t flags;
};

/// Bytes of a structure that may extend VkPipelineShaderStageCreateInfo; 0 if unknown.
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

template <typename Struct>
const Struct* find_in_chain(const void* chain, VkStructureType type) {
  for (const auto* at = static_cast<const VkBaseInStructure*>(chain); at != nullptr; at = at->pNext) {
    if (at->sType == type) {
      return reinterpret_cast<const Struct*>(at);
    }
  }
  return nullptr;
}

VkShaderStageFlagBits flag_of(instrument::Stage stage) {
  switch (stage) {
    case instrument::Stage::RayGeneration:
      return VK_SHADER_STAGE_RAYGEN_BIT_KHR;
    case instrument::Stage::Intersection:
      return VK_SHADER_STAGE_INTERSECTION_BIT_KHR;
    case instrument::Stage::AnyHit:
      return VK_SHADER_STAGE_ANY_HIT_BIT_KHR;
    case instrument::Stage::ClosestHit:
      return VK_SHADER_STAGE_CLOSEST_HIT_BIT_KHR;
    case instrument::Stage::Miss:
      return VK_SHADER_STAGE_MISS_BIT_KHR;
    case instrument::Stage::Callable:
      return VK_SHADER_STAGE_CALLABLE_BIT_KHR;
  }
  return VK_SHADER_STAGE_ALL;
}

std::uint64_t flags_of(const VkRayTracingPipelineCreateInfoKHR& info) {
  const auto* newer = find_in_chain<CreateFlags2>(info.pNext, static_cast<VkStructureType>(kCreateFlags2Type));
  return newer != nullptr ? newer->flags : info.flags;
}

bool has_dynamic_stack(const VkRayTracingPipelineCreateInfoKHR& info) {
  const auto* state = info.pDynamicState;
  return state != nullptr && std::find(state->pDynamicStates, state->pDynamicStates + state->dynamicStateCount,
                                       VK_DYNAMIC_STATE_RAY_TRACING_PIPELINE_STACK_SIZE_KHR) !=
                                 state->pDynamicStates + state->dynamicStateCount;
}

}  // namespace

/// One create info with instrumented stages. What it points at lives as long as it does.
class PipelineRewrite {
 public:
  PipelineRewrite(Device& device, const VkRayTracingPipelineCreateInfoKHR& original)
      : device_(device), info_(original), record_(std::make_shared<PipelineRecord>()) {
    stages_.assign(original.pStages, original.pStages + original.stageCount);
    groups_.assign(original.pGroups, original.pGroups + original.groupCount);
    ids_.assign(stages_.size(), spool::kNoShader);
    any_hits_ = original.pLibraryInfo != nullptr || (flags_of(original) & VK_PIPELINE_CREATE_LIBRARY_BIT_KHR) != 0 ||
                std::any_of(groups_.begin(), groups_.end(),
                            [](const auto& group) { return group.anyHitShader != VK_SHADER_UNUSED_KHR; });
    record_->any_hits = any_hits_;
    for (std::size_t i = 0; i < stages_.size(); ++i) {
      if (!rewrite_stage(i)) {
        record_->observes_all = false;
        record_->any_hits_as_given |= stages_[i].stage == VK_SHADER_STAGE_ANY_HIT_BIT_KHR;
      }
    }
    if (options().observe_all) {
      add_probes();
    }
    describe(original);
    info_.stageCount = static_cast<std::uint32_t>(stages_.size());
    info_.pStages = stages_.data();
    info_.pGroups = groups_.data();
  }
  PipelineRewrite(const PipelineRewrite&) = delete;
  PipelineRewrite& operator=(const PipelineRewrite&) = delete;
  ~PipelineRewrite() {
    for (const auto& [twin, module] : modules_) {
      device_.vk.DestroyShaderModule(device_.handle, module, nullptr);
    }
  }

  [[nodiscard]] const VkRayTracingPipelineCreateInfoKHR& info() const {
    return info_;
  }
  [[nodiscard]] const std::shared_ptr<PipelineRecord>& record() const {
    return record_;
  }

 private:
  /// False: the shader stays as it is, though there is something in it to change.
  bool rewrite_stage(std::size_t index) {
    auto& stage = stages_[index];
    std::shared_ptr<const Words> owned;
    std::span<const std::uint32_t> words;
    std::string name;
    const auto* inline_module =
        find_in_chain<VkShaderModuleCreateInfo>(stage.pNext, VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO);
    if (stage.module != VK_NULL_HANDLE) {
      owned = device_.shaders->words(stage.module);
      name = device_.name_of(reinterpret_cast<std::uint64_t>(stage.module));
      if (owned) {
        words = *owned;
      }
    } else if (inline_module != nullptr) {
      words = {inline_module->pCode, inline_module->codeSize / sizeof(std::uint32_t)};
      const auto* named =
          find_in_chain<VkDebugUtilsObjectNameInfoEXT>(stage.pNext, VK_STRUCTURE_TYPE_DEBUG_UTILS_OBJECT_NAME_INFO_EXT);
      name = named != nullptr && named->pObjectName != nullptr ? named->pObjectName : "";
    }
    if (words.empty()) {
      record_->may_trace = true;
      note(stage.module == VK_NULL_HANDLE ? "a shader given by module identifier cannot be observed"
                                          : "a shader module that the layer does not know cannot be observed");
      return false;
    }
    const auto twin = device_.shaders->twin(words, name, any_hits_);
    for (const auto& entry : twin->entry_points) {
      if (flag_of(entry.stage) == stage.stage && stage.pName != nullptr && entry.name == stage.pName) {
        ids_[index] = entry.shader;
        std::copy_if(twin->sites.begin(), twin->sites.end(), std::back_inserter(record_->sites),
                     [&](const auto& site) { return site.shader == entry.shader; });
      }
    }
    record_->may_trace |= twin->status == instrument::Status::Refused || !record_->sites.empty();
    if (twin->status != instrument::Status::Instrumented) {
      return twin->status == instrument::Status::Unchanged;
    }
    if (stage.module == VK_NULL_HANDLE && !unlink(stage, inline_module)) {
      note("a shader given inline behind an unknown structure cannot be observed");
      return false;
    }
    return use(stage, twin);
  }

  /// Takes the inline module out of the stage's chain, copying the structures before it.
  bool unlink(VkPipelineShaderStageCreateInfo& stage, const VkShaderModuleCreateInfo* module) {
    const void* head = nullptr;
    const void** link = &head;
    for (const auto* at = static_cast<const VkBaseInStructure*>(stage.pNext);
         at != reinterpret_cast<const VkBaseInStructure*>(module); at = at->pNext) {
      const auto bytes = stage_struct_bytes(at->sType);
      if (bytes == 0) {
        return false;
      }
      auto& memory = copies_.emplace_back(std::make_unique<std::max_align_t[]>(bytes / sizeof(std::max_align_t) + 1));
      std::memcpy(memory.get(), at, bytes);
      auto* copy = reinterpret_cast<VkBaseInStructure*>(memory.get());
      *link = copy;
      link = reinterpret_cast<const void**>(&copy->pNext);
    }
    *link = module->pNext;
    stage.pNext = head;
    return true;
  }

  bool use(VkPipelineShaderStageCreateInfo& stage, const std::shared_ptr<const instrument::Result>& twin) {
    auto found = modules_.find(twin);
    if (found == modules_.end()) {
      VkShaderModuleCreateInfo info{};
      info.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO;
      info.codeSize = twin->spirv.size() * sizeof(std::uint32_t);
      info.pCode = twin->spirv.data();
      VkShaderModule module = VK_NULL_HANDLE;
      if (device_.vk.CreateShaderModule(device_.handle, &info, nullptr, &module) != VK_SUCCESS) {
        note("the device refuses an instrumented shader; the application's own is used");
        return false;
      }
      found = modules_.emplace(twin, module).first;
    }
    stage.module = found->second;
    record_->instrumented = true;
    return true;
  }

  void add_probes() {
    const auto bare = [](const VkRayTracingShaderGroupCreateInfoKHR& group) {
      return group.type == VK_RAY_TRACING_SHADER_GROUP_TYPE_TRIANGLES_HIT_GROUP_KHR &&
             group.anyHitShader == VK_SHADER_UNUSED_KHR;
    };
    if (!device_.records || std::none_of(groups_.begin(), groups_.end(), bare)) {
      return;
    }
    // Where the driver writes one result for each stage there is no room for one more.
    const auto* feedback = find_in_chain<VkPipelineCreationFeedbackCreateInfo>(
        info_.pNext, VK_STRUCTURE_TYPE_PIPELINE_CREATION_FEEDBACK_CREATE_INFO);
    if (feedback != nullptr && feedback->pipelineStageCreationFeedbackCount != 0) {
      note("observe-all: a pipeline that asks for creation feedback of its stages gets no probes");
      record_->observes_all = false;
      return;
    }
    const auto probe = device_.shaders->probe();
    if (probe->status != instrument::Status::Instrumented) {
      record_->observes_all = false;
      return;
    }
    VkPipelineShaderStageCreateInfo stage{};
    stage.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO;
    stage.stage = VK_SHADER_STAGE_ANY_HIT_BIT_KHR;
    stage.pName = "main";
    if (!use(stage, probe)) {
      record_->observes_all = false;
      return;
    }
    const auto index = static_cast<std::uint32_t>(stages_.size());
    stages_.push_back(stage);
    ids_.push_back(probe->entry_points.front().shader);
    for (auto& group : groups_) {
      if (bare(group)) {
        group.anyHitShader = index;
      }
    }
  }

  void describe(const VkRayTracingPipelineCreateInfoKHR& original) {
    const auto id = [this](std::uint32_t stage) { return stage < ids_.size() ? ids_[stage] : spool::kNoShader; };
    for (const auto& group : groups_) {
      spool::Group known;
      known.general = id(group.generalShader);
      known.closest_hit = id(group.closestHitShader);
      known.any_hit = id(group.anyHitShader);
      known.intersection = id(group.intersectionShader);
      record_->groups.push_back(std::move(known));
      record_->general.push_back(group.generalShader < stages_.size() ? stages_[group.generalShader].stage
                                                                      : VkShaderStageFlagBits{});
    }
    if (const auto* libraries = original.pLibraryInfo) {
      for (std::uint32_t i = 0; i < libraries->libraryCount; ++i) {
        const auto library = device_.pipelines->find(libraries->pLibraries[i]);
        if (!library) {
          note("a pipeline uses a library that the layer does not know: its shader groups are unknown");
          record_->observes_all = false;
          record_->any_hits_as_given = true;
          record_->may_trace = true;
          continue;
        }
        const auto append = [](auto& to, const auto& from) { to.insert(to.end(), from.begin(), from.end()); };
        append(record_->groups, library->groups);
        append(record_->general, library->general);
        append(record_->sites, library->sites);
        record_->may_trace |= library->may_trace;
        record_->instrumented |= library->instrumented;
        record_->observes_all &= library->observes_all;
        record_->any_hits_as_given |= library->any_hits_as_given;
      }
    }
    const bool for_others = (flags_of(original) & VK_PIPELINE_CREATE_LIBRARY_BIT_KHR) != 0;
    if (options().observe_all && record_->any_hits_as_given && (record_->may_trace || for_others)) {
      note("observe-all: opaque geometry is not observed by a pipeline whose any-hit shaders stay as they are");
    }
    record_->layout = original.layout;
    record_->dynamic_stack = has_dynamic_stack(original);
  }

  Device& device_;
  VkRayTracingPipelineCreateInfoKHR info_;
  std::shared_ptr<PipelineRecord> record_;
  std::vector<VkPipelineShaderStageCreateInfo> stages_;
  std::vector<VkRayTracingShaderGroupCreateInfoKHR> groups_;
  std::vector<std::uint16_t> ids_;  // of each stage
  bool any_hits_ = false;           // of the application's, here or in what it may be linked with
  std::map<std::shared_ptr<const instrument::Result>, VkShaderModule> modules_;
  std::vector<std::unique_ptr<std::max_align_t[]>> copies_;
};

VkResult Pipelines::create(VkDeferredOperationKHR deferred, VkPipelineCache cache, std::uint32_t count,
                           const VkRayTracingPipelineCreateInfoKHR* infos, const VkAllocationCallbacks* allocator,
                           VkPipeline* pipelines) {
  const auto create_next = [&](const VkRayTracingPipelineCreateInfoKHR* wanted) {
    return device_.vk.CreateRayTracingPipelinesKHR(device_.handle, VK_NULL_HANDLE, cache, count, wanted, allocator,
                                                   pipelines);
  };
  std::deque<PipelineRewrite> rewrites;
  std::vector<VkRayTracingPipelineCreateInfoKHR> rewritten;
  const bool prepared = attempt("instrumenting a pipeline", [&] {
    for (std::uint32_t i = 0; i < count; ++i) {
      const auto& rewrite = rewrites.emplace_back(device_, infos[i]);
      rewritten.push_back(rewrite.info());
    }
  });
  VkResult result = VK_ERROR_UNKNOWN;
  if (prepared) {
    result = create_next(rewritten.data());
  }
  if (result < 0) {
    if (prepared) {
      for (std::uint32_t i = 0; i < count; ++i) {
        if (pipelines[i] != VK_NULL_HANDLE) {
          device_.vk.DestroyPipeline(device_.handle, pipelines[i], allocator);
          pipelines[i] = VK_NULL_HANDLE;
        }
      }
    }
    const auto refused = result;
    result = create_next(infos);
    if (result >= 0) {
      attempt("noting a refused pipeline", [&] {
        note("the device refuses an instrumented pipeline (VkResult " + std::to_string(refused) +
             "): the application's own is used and its shaders are not observed");
        for (const auto& rewrite : rewrites) {
          rewrite.record()->instrumented = false;
        }
      });
    }
  }
  if (result >= 0 && prepared) {
    attempt("recording a pipeline", [&] {
      for (std::uint32_t i = 0; i < count; ++i) {
        if (pipelines[i] != VK_NULL_HANDLE) {
          register_pipeline(pipelines[i], infos[i], rewrites[i].record());
        }
      }
    });
  }
  return result == VK_SUCCESS && deferred != VK_NULL_HANDLE ? VK_OPERATION_NOT_DEFERRED_KHR : result;
}

namespace {

/// The default stack size of the specification ("Ray Tracing Pipeline Stack") for this pipeline.
std::uint32_t default_stack(Device& device, const PipelineRecord& record, std::uint32_t depth) {
  std::uint64_t raygen = 0, closest = 0, any = 0, intersection = 0, miss = 0, callable = 0;
  for (std::uint32_t i = 0; i < record.groups.size(); ++i) {
    const auto& group = record.groups[i];
    const auto size = [&](VkShaderGroupShaderKHR shader) -> std::uint64_t {
      return device.vk.GetRayTracingShaderGroupStackSizeKHR(device.handle, record.handle, i, shader);
    };
    const auto raise = [](std::uint64_t& most, std::uint64_t value) { most = std::max(most, value); };
    switch (record.general[i]) {
      case VK_SHADER_STAGE_RAYGEN_BIT_KHR:
        raise(raygen, size(VK_SHADER_GROUP_SHADER_GENERAL_KHR));
        break;
      case VK_SHADER_STAGE_MISS_BIT_KHR:
        raise(miss, size(VK_SHADER_GROUP_SHADER_GENERAL_KHR));
        break;
      case VK_SHADER_STAGE_CALLABLE_BIT_KHR:
        raise(callable, size(VK_SHADER_GROUP_SHADER_GENERAL_KHR));
        break;
      default:
        break;
    }
    if (group.closest_hit != spool::kNoShader) {
      raise(closest, size(VK_SHADER_GROUP_SHADER_CLOSEST_HIT_KHR));
    }
    if (group.any_hit != spool::kNoShader) {
      raise(any, size(VK_SHADER_GROUP_SHADER_ANY_HIT_KHR));
    }
    if (group.intersection != spool::kNoShader) {
      raise(intersection, size(VK_SHADER_GROUP_SHADER_INTERSECTION_KHR));
    }
  }
  const std::uint64_t first = depth > 0 ? std::max({closest, miss, intersection + any}) : 0;
  const std::uint64_t more = depth > 1 ? (depth - 1) * std::max(closest, miss) : 0;
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(raygen + first + more + 2 * callable, 0xFFFF'FFFFU));
}

}  // namespace

void Pipelines::register_pipeline(VkPipeline pipeline, const VkRayTracingPipelineCreateInfoKHR& info,
                                  std::shared_ptr<PipelineRecord> record) {
  record->handle = pipeline;
  if ((flags_of(info) & VK_PIPELINE_CREATE_LIBRARY_BIT_KHR) == 0) {
    const auto size = device_.ray_tracing.shaderGroupHandleSize;
    const auto count = static_cast<std::uint32_t>(record->groups.size());
    std::vector<std::uint8_t> handles(std::size_t{size} * count);
    if (count > 0 && device_.vk.GetRayTracingShaderGroupHandlesKHR(device_.handle, pipeline, 0, count, handles.size(),
                                                                   handles.data()) == VK_SUCCESS) {
      for (std::uint32_t i = 0; i < count; ++i) {
        const auto* first = handles.data() + std::size_t{size} * i;
        record->groups[i].handle.assign(first, first + size);
      }
    } else {
      note("the handles of a pipeline's shader groups are unknown");
    }
    if (record->dynamic_stack) {
      record->needed_stack = default_stack(device_, *record, info.maxPipelineRayRecursionDepth);
    }
    record->number = process().next_pipeline++;
    spool::Pipeline block;
    block.device = device_.number;
    block.pipeline = record->number;
    block.groups = record->groups;
    spool_block(block);
  }
  const std::scoped_lock lock(mutex_);
  pipelines_[pipeline] = std::move(record);
}

void Pipelines::destroyed(VkPipeline pipeline) {
  const std::scoped_lock lock(mutex_);
  pipelines_.erase(pipeline);
}

std::shared_ptr<const PipelineRecord> Pipelines::find(VkPipeline pipeline) {
  const std::scoped_lock lock(mutex_);
  const auto found = pipelines_.find(pipeline);
  return found == pipelines_.end() ? nullptr : found->second;
}

}  // namespace rayreplay::layer
