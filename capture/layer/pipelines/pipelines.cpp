#include "capture/layer/pipelines/pipelines.hpp"

#include <algorithm>
#include <iterator>
#include <list>
#include <utility>

#include "capture/layer/counter_memory.hpp"
#include "capture/layer/event_memory.hpp"
#include "capture/layer/pipelines/pipeline_facts.hpp"
#include "capture/layer/pipelines/pipeline_recipe.hpp"
#include "capture/layer/pipelines/pipeline_rewrite.hpp"
#include "capture/layer/pipelines/variants.hpp"
#include "capture/layer/process.hpp"

namespace rayreplay::layer {
namespace {

bool is_library(const VkRayTracingPipelineCreateInfoKHR& info) {
  return (flags_of(info) & VK_PIPELINE_CREATE_LIBRARY_BIT_KHR) != 0;
}

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

Pipelines::Pipelines(Device& device) : device_(device), layouts_(std::make_shared<KeptLayouts>(device)) {}

Pipelines::~Pipelines() = default;

LibraryRecords Pipelines::libraries_of(const VkRayTracingPipelineCreateInfoKHR& info, bool ready) {
  LibraryRecords libraries;
  const auto* linked = info.pLibraryInfo;
  for (std::uint32_t i = 0; linked != nullptr && i < linked->libraryCount; ++i) {
    auto record = find(linked->pLibraries[i]);
    if (ready && record && record->variant) {
      record = record->variant->get(*record).record;
    }
    libraries.push_back(std::move(record));
  }
  return libraries;
}

std::vector<std::shared_ptr<PipelineRecord>> Pipelines::plain_records(std::uint32_t count,
                                                                      const VkRayTracingPipelineCreateInfoKHR* infos) {
  std::vector<std::shared_ptr<PipelineRecord>> records;
  for (std::uint32_t i = 0; i < count; ++i) {
    auto recipe = keep(infos[i], sources_of(device_, infos[i]), libraries_of(infos[i], false));
    if (!recipe) {
      return {};
    }
    auto record = std::make_shared<PipelineRecord>();
    record->variant = std::make_shared<Variant>(device_, std::move(recipe), layouts_);
    record->layout = infos[i].layout;
    record->group_count = infos[i].groupCount;
    for (const auto& library : libraries_of(infos[i], false)) {
      record->group_count += library->group_count;
    }
    records.push_back(std::move(record));
  }
  return records;
}

VkResult Pipelines::create(VkDeferredOperationKHR deferred, VkPipelineCache cache, std::uint32_t count,
                           const VkRayTracingPipelineCreateInfoKHR* infos, const VkAllocationCallbacks* allocator,
                           VkPipeline* pipelines) {
  std::vector<std::shared_ptr<PipelineRecord>> plain;
  if (device_.lazy) {
    attempt("keeping what a pipeline is made of", [&] { plain = plain_records(count, infos); });
  }
  VkResult result = VK_SUCCESS;
  if (plain.empty()) {
    result = create_instrumented(cache, count, infos, allocator, pipelines);
  } else {
    result = device_.vk.CreateRayTracingPipelinesKHR(device_.handle, VK_NULL_HANDLE, cache, count, infos, allocator,
                                                     pipelines);
    if (result >= 0) {
      attempt("recording a pipeline", [&] {
        for (std::uint32_t i = 0; i < count; ++i) {
          if (pipelines[i] != VK_NULL_HANDLE) {
            plain[i]->handle = pipelines[i];
            if (infos[i].pLibraryInfo != nullptr && !is_library(infos[i])) {
              plain[i]->early_handles = group_handles(device_, pipelines[i], plain[i]->group_count);
            }
            layouts_->watch(plain[i]);
            add(pipelines[i], plain[i]);
          }
        }
      });
    }
  }
  return result == VK_SUCCESS && deferred != VK_NULL_HANDLE ? VK_OPERATION_NOT_DEFERRED_KHR : result;
}

VkResult Pipelines::create_instrumented(VkPipelineCache cache, std::uint32_t count,
                                        const VkRayTracingPipelineCreateInfoKHR* infos,
                                        const VkAllocationCallbacks* allocator, VkPipeline* pipelines) {
  const auto create_next = [&](const VkRayTracingPipelineCreateInfoKHR* wanted) {
    return device_.vk.CreateRayTracingPipelinesKHR(device_.handle, VK_NULL_HANDLE, cache, count, wanted, allocator,
                                                   pipelines);
  };
  std::list<PipelineRewrite> rewrites;  // An empty deque would take memory.
  std::vector<VkRayTracingPipelineCreateInfoKHR> rewritten;
  const bool prepared = device_.event_memory->prepare() && attempt("instrumenting a pipeline", [&] {
                          for (std::uint32_t i = 0; i < count; ++i) {
                            const auto& rewrite = rewrites.emplace_back(
                                device_, infos[i], sources_of(device_, infos[i]), libraries_of(infos[i], true));
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
    if (result >= 0 && prepared) {
      attempt("noting a refused pipeline", [&] {
        note("the device refuses an instrumented pipeline (VkResult " + std::to_string(refused) +
             "): the application's own is used and its shaders are not observed");
        for (const auto& rewrite : rewrites) {
          rewrite.record()->instrumented = false;
          rewrite.record()->counters.clear();
        }
      });
    }
  }
  if (result >= 0 && prepared) {
    attempt("recording a pipeline", [&] {
      for (std::uint32_t i = 0; i < count; ++i) {
        if (pipelines[i] != VK_NULL_HANDLE) {
          const auto& record = std::next(rewrites.begin(), i)->record();
          record->handle = pipelines[i];
          if (!is_library(infos[i])) {
            describe_pipeline(device_, *record, group_handles(device_, pipelines[i], record->groups.size()),
                              infos[i].maxPipelineRayRecursionDepth);
          }
          if (options().pipeline_facts) {
            record_facts(infos[i], *record);
          }
          add(pipelines[i], record);
        }
      }
    });
  }
  return result;
}

std::vector<std::uint8_t> group_handles(Device& device, VkPipeline pipeline, std::size_t groups) {
  std::vector<std::uint8_t> handles(device.ray_tracing.shaderGroupHandleSize * groups);
  if (groups == 0 ||
      device.vk.GetRayTracingShaderGroupHandlesKHR(device.handle, pipeline, 0, static_cast<std::uint32_t>(groups),
                                                   handles.size(), handles.data()) != VK_SUCCESS) {
    return {};
  }
  return handles;
}

void describe_pipeline(Device& device, PipelineRecord& record, const std::vector<std::uint8_t>& handles,
                       std::uint32_t recursion_depth) {
  const auto size = static_cast<std::ptrdiff_t>(device.ray_tracing.shaderGroupHandleSize);
  if (handles.size() == record.groups.size() * device.ray_tracing.shaderGroupHandleSize && !handles.empty()) {
    auto first = handles.begin();
    for (auto& group : record.groups) {
      group.handle.assign(first, first + size);
      first += size;
    }
  } else {
    note("the handles of a pipeline's shader groups are unknown");
  }
  if (record.dynamic_stack && record.instrumented) {
    record.needed_stack = default_stack(device, record, recursion_depth);
  }
  record.number = process().next_pipeline++;
  spool::Pipeline block;
  block.device = device.number;
  block.pipeline = record.number;
  block.groups = record.groups;
  spool_block(block);
}

void Pipelines::record_facts(const VkRayTracingPipelineCreateInfoKHR& info, PipelineRecord& record) {
  attempt("reading the facts of a pipeline", [&] {
    const auto recipe = keep(info, sources_of(device_, info), {});
    std::vector<std::shared_ptr<const PlainTwin>> libraries;
    for (const auto& library : libraries_of(info, false)) {
      libraries.push_back(library ? library->plain : nullptr);
    }
    auto twin = recipe ? PlainTwin::make(device_, *recipe, libraries) : nullptr;
    if (!twin) {
      note(kNoTwin);
    } else if (is_library(info)) {
      record.plain = std::move(twin);
    } else {
      spool_facts(device_, twin->handle(), record, info.maxPipelineRayRecursionDepth);
    }
  });
}

void Pipelines::add(VkPipeline pipeline, std::shared_ptr<PipelineRecord> record) {
  const std::scoped_lock lock(mutex_);
  pipelines_[pipeline] = std::move(record);
}

void Pipelines::destroyed(VkPipeline pipeline) {
  std::shared_ptr<const PipelineRecord> old;  // destroyed when the mutex is free
  const std::scoped_lock lock(mutex_);
  if (const auto found = pipelines_.find(pipeline); found != pipelines_.end()) {
    old = std::move(found->second);
    pipelines_.erase(found);
  }
}

std::shared_ptr<const PipelineRecord> Pipelines::find(VkPipeline pipeline) {
  const std::scoped_lock lock(mutex_);
  const auto found = pipelines_.find(pipeline);
  return found == pipelines_.end() ? nullptr : found->second;
}

void Pipelines::destroy_layout(VkPipelineLayout layout, const VkAllocationCallbacks* allocator) {
  layouts_->destroy(layout, allocator);
}

void drop_pipeline_layout(Device& device, VkPipelineLayout layout, const VkAllocationCallbacks* allocator) {
  if (device.lazy && layout != VK_NULL_HANDLE) {
    device.pipelines->destroy_layout(layout, allocator);
  } else {
    device.vk.DestroyPipelineLayout(device.handle, layout, allocator);
  }
}

}  // namespace rayreplay::layer
