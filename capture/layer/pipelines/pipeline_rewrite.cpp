#include "capture/layer/pipelines/pipeline_rewrite.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "capture/layer/counter_memory.hpp"
#include "capture/layer/pipelines/shaders.hpp"
#include "capture/layer/process.hpp"

namespace rayreplay::layer {
namespace {

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
    case instrument::Stage::Vertex:
    case instrument::Stage::Fragment:
    case instrument::Stage::Compute:
      break;
  }
  return VK_SHADER_STAGE_ALL;
}

bool has_dynamic_stack(const VkRayTracingPipelineCreateInfoKHR& info) {
  const auto* state = info.pDynamicState;
  return state != nullptr && std::find(state->pDynamicStates, state->pDynamicStates + state->dynamicStateCount,
                                       VK_DYNAMIC_STATE_RAY_TRACING_PIPELINE_STACK_SIZE_KHR) !=
                                 state->pDynamicStates + state->dynamicStateCount;
}

}  // namespace

PipelineRewrite::PipelineRewrite(Device& device, const VkRayTracingPipelineCreateInfoKHR& original,
                                 const std::vector<StageSource>& sources, const LibraryRecords& libraries)
    : device_(device), info_(original), record_(std::make_shared<PipelineRecord>()) {
  stages_.assign(original.pStages, original.pStages + original.stageCount);
  groups_.assign(original.pGroups, original.pGroups + original.groupCount);
  ids_.assign(stages_.size(), spool::kNoShader);
  any_hits_ = original.pLibraryInfo != nullptr || (flags_of(original) & VK_PIPELINE_CREATE_LIBRARY_BIT_KHR) != 0 ||
              std::any_of(groups_.begin(), groups_.end(),
                          [](const auto& group) { return group.anyHitShader != VK_SHADER_UNUSED_KHR; });
  record_->any_hits = any_hits_;
  for (std::size_t i = 0; i < stages_.size(); ++i) {
    if (!rewrite_stage(i, sources[i])) {
      record_->observes_all = false;
      record_->any_hits_as_given |= stages_[i].stage == VK_SHADER_STAGE_ANY_HIT_BIT_KHR;
    }
  }
  if (options().observe_all) {
    add_probes();
  }
  describe(original, libraries);
  if (original.pLibraryInfo != nullptr) {
    link(*original.pLibraryInfo, libraries);
  }
  info_.stageCount = static_cast<std::uint32_t>(stages_.size());
  info_.pStages = stages_.data();
  info_.pGroups = groups_.data();
}

PipelineRewrite::~PipelineRewrite() {
  for (const auto& [twin, module] : modules_) {
    device_.vk.DestroyShaderModule(device_.handle, module, nullptr);
  }
  for (const auto& [words, module] : given_modules_) {
    device_.vk.DestroyShaderModule(device_.handle, module, nullptr);
  }
}

VkShaderModule PipelineRewrite::make_module(const Words& words) {
  VkShaderModuleCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO;
  info.codeSize = words.size() * sizeof(std::uint32_t);
  info.pCode = words.data();
  VkShaderModule module = VK_NULL_HANDLE;
  return device_.vk.CreateShaderModule(device_.handle, &info, nullptr, &module) == VK_SUCCESS ? module : VK_NULL_HANDLE;
}

VkShaderModule PipelineRewrite::make_counting_module(const std::shared_ptr<const instrument::Result>& twin) {
  auto counters = device_.counters->give(twin);
  if (!counters) {
    note("the device has no memory for the counters of a shader");
    return VK_NULL_HANDLE;
  }
  auto* module = make_module(words_with(*twin, *counters));
  if (module != VK_NULL_HANDLE) {
    record_->counters.push_back(std::move(counters));
  }
  return module;
}

bool PipelineRewrite::rewrite_stage(std::size_t index, const StageSource& source) {
  auto& stage = stages_[index];
  const auto* inline_module =
      find_in_chain<VkShaderModuleCreateInfo>(stage.pNext, VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO);
  if (!source.words || source.words->empty()) {
    record_->may_trace = true;
    note(stage.module == VK_NULL_HANDLE ? "a shader given by module identifier cannot be observed"
                                        : "a shader module that the layer does not know cannot be observed");
    return false;
  }
  const auto twin = device_.shaders->twin(*source.words, source.name, any_hits_);
  for (const auto& entry : twin->entry_points) {
    if (flag_of(entry.stage) == stage.stage && stage.pName != nullptr && entry.name == stage.pName) {
      ids_[index] = entry.shader;
      std::copy_if(twin->sites.begin(), twin->sites.end(), std::back_inserter(record_->sites),
                   [&](const auto& site) { return site.shader == entry.shader; });
    }
  }
  record_->may_trace |= twin->status == instrument::Status::Refused || !record_->sites.empty();
  if (twin->status != instrument::Status::Instrumented) {
    use_given(stage, source);
    return twin->status == instrument::Status::Unchanged;
  }
  if (inline_module != nullptr && stage.module == VK_NULL_HANDLE && !unlink(stage, inline_module, copies_)) {
    note("a shader given inline behind an unknown structure cannot be observed");
    return false;
  }
  if (!use(stage, twin)) {
    use_given(stage, source);
    return false;
  }
  return true;
}

bool PipelineRewrite::use(VkPipelineShaderStageCreateInfo& stage,
                          const std::shared_ptr<const instrument::Result>& twin) {
  auto found = modules_.find(twin);
  if (found == modules_.end()) {
    auto* module = twin->counters.cells != 0 ? make_counting_module(twin) : make_module(twin->spirv);
    if (module == VK_NULL_HANDLE) {
      note("the device refuses an instrumented shader; the application's own is used");
      return false;
    }
    found = modules_.emplace(twin, module).first;
  }
  stage.module = found->second;
  record_->instrumented = true;
  return true;
}

void PipelineRewrite::use_given(VkPipelineShaderStageCreateInfo& stage, const StageSource& source) {
  if (stage.module != VK_NULL_HANDLE ||
      find_in_chain<VkShaderModuleCreateInfo>(stage.pNext, VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO) != nullptr) {
    return;
  }
  auto& module = given_modules_[source.words.get()];
  if (module == VK_NULL_HANDLE) {
    module = make_module(*source.words);
  }
  stage.module = module;
  complete_ &= module != VK_NULL_HANDLE;
}

void PipelineRewrite::add_probes() {
  const auto bare = [](const VkRayTracingShaderGroupCreateInfoKHR& group) {
    return group.type == VK_RAY_TRACING_SHADER_GROUP_TYPE_TRIANGLES_HIT_GROUP_KHR &&
           group.anyHitShader == VK_SHADER_UNUSED_KHR;
  };
  if (!device_.records || std::none_of(groups_.begin(), groups_.end(), bare)) {
    return;
  }
  // If the driver writes one result for each stage, the array has no room for one more.
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

void PipelineRewrite::link(const VkPipelineLibraryCreateInfoKHR& original, const LibraryRecords& libraries) {
  linked_ = original;
  linked_handles_.assign(original.pLibraries, original.pLibraries + original.libraryCount);
  for (std::size_t i = 0; i < linked_handles_.size(); ++i) {
    if (libraries[i]) {
      linked_handles_[i] = libraries[i]->handle;
    }
  }
  linked_.pLibraries = linked_handles_.data();
  info_.pLibraryInfo = &linked_;
}

void PipelineRewrite::describe(const VkRayTracingPipelineCreateInfoKHR& original, const LibraryRecords& libraries) {
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
  for (const auto& library : libraries) {
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
    append(record_->counters, library->counters);
    record_->may_trace |= library->may_trace;
    record_->instrumented |= library->instrumented;
    record_->observes_all &= library->observes_all;
    record_->any_hits_as_given |= library->any_hits_as_given;
  }
  const bool for_others = (flags_of(original) & VK_PIPELINE_CREATE_LIBRARY_BIT_KHR) != 0;
  if (options().observe_all && record_->any_hits_as_given && (record_->may_trace || for_others)) {
    note("observe-all: opaque geometry is not observed by a pipeline whose any-hit shaders stay as they are");
  }
  record_->layout = original.layout;
  record_->dynamic_stack = has_dynamic_stack(original);
}

}  // namespace rayreplay::layer
