#include "capture/layer/intercepts.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <string_view>

#include "capture/layer/geometry/hooks.hpp"
#include "capture/layer/launches.hpp"
#include "capture/layer/pipelines/counted_pipelines.hpp"
#include "capture/layer/pipelines/pipelines.hpp"
#include "capture/layer/pipelines/replacements.hpp"
#include "capture/layer/pipelines/shaders.hpp"
#include "capture/layer/process.hpp"
#include "capture/layer/queue_intercepts.hpp"

namespace rayreplay::layer {
namespace {

// Every function passes the application's call on exactly once, unchanged where possible; the layer's own work is
// inside attempt().

// Shader modules and pipelines.

VkResult create_shader_module(Device& device, VkDevice handle, const VkShaderModuleCreateInfo* info,
                              const VkAllocationCallbacks* allocator, VkShaderModule* module) {
  auto used = *info;
  attempt("replacing a shader module", [&] {
    if (const auto words = replacement_of(*info); !words.empty()) {
      used.pCode = words.data();
      used.codeSize = words.size_bytes();
    }
  });
  auto result = device.vk.CreateShaderModule(handle, &used, allocator, module);
  if (result != VK_SUCCESS && used.pCode != info->pCode) {
    attempt("noting a refused module",
            [] { note("shaders: the device refuses a replaced module; the application's own is used"); });
    used = *info;
    result = device.vk.CreateShaderModule(handle, &used, allocator, module);
  }
  if (result == VK_SUCCESS) {
    attempt("keeping a shader module", [&] { device.shaders->created(*module, used); });
  }
  return result;
}

void forget_name(Device& device, std::uint64_t object) {
  const std::scoped_lock lock(device.names_mutex);
  device.names.erase(object);
}

void destroy_shader_module(Device& device, VkDevice handle, VkShaderModule module,
                           const VkAllocationCallbacks* allocator) {
  if (module != VK_NULL_HANDLE) {
    attempt("forgetting a shader module", [&] {
      device.shaders->destroyed(module);
      forget_name(device, reinterpret_cast<std::uint64_t>(module));
    });
  }
  device.vk.DestroyShaderModule(handle, module, allocator);
}

VkResult create_ray_tracing_pipelines(Device& device, VkDevice /*handle*/, VkDeferredOperationKHR deferred,
                                      VkPipelineCache cache, std::uint32_t count,
                                      const VkRayTracingPipelineCreateInfoKHR* infos,
                                      const VkAllocationCallbacks* allocator, VkPipeline* pipelines) {
  std::optional<ReplacedPipelines> replaced;
  const bool done = attempt("replacing inline shader modules", [&] { replaced.emplace(count, infos); });
  const auto* const used = done ? replaced->infos() : infos;
  const auto result = device.pipelines->create(deferred, cache, count, used, allocator, pipelines);
  if (result >= 0 || used == infos) {
    return result;
  }
  attempt("noting a refused pipeline",
          [] { note("shaders: the device refuses a pipeline with replaced modules; the application's own is used"); });
  return device.pipelines->create(deferred, cache, count, infos, allocator, pipelines);
}

VkResult create_compute_pipelines(Device& device, VkDevice handle, VkPipelineCache cache, std::uint32_t count,
                                  const VkComputePipelineCreateInfo* infos, const VkAllocationCallbacks* allocator,
                                  VkPipeline* pipelines) {
  return device.counted ? device.counted->create(cache, count, infos, allocator, pipelines)
                        : device.vk.CreateComputePipelines(handle, cache, count, infos, allocator, pipelines);
}

VkResult create_graphics_pipelines(Device& device, VkDevice handle, VkPipelineCache cache, std::uint32_t count,
                                   const VkGraphicsPipelineCreateInfo* infos, const VkAllocationCallbacks* allocator,
                                   VkPipeline* pipelines) {
  return device.counted ? device.counted->create(cache, count, infos, allocator, pipelines)
                        : device.vk.CreateGraphicsPipelines(handle, cache, count, infos, allocator, pipelines);
}

void destroy_pipeline(Device& device, VkDevice handle, VkPipeline pipeline, const VkAllocationCallbacks* allocator) {
  if (pipeline != VK_NULL_HANDLE) {
    attempt("forgetting a pipeline", [&] {
      device.pipelines->destroyed(pipeline);
      if (device.counted) {
        device.counted->destroyed(pipeline);
      }
      forget_name(device, reinterpret_cast<std::uint64_t>(pipeline));
    });
  }
  device.vk.DestroyPipeline(handle, pipeline, allocator);
}

VkResult set_object_name(Device& device, VkDevice handle, const VkDebugUtilsObjectNameInfoEXT* info) {
  attempt("keeping a name", [&] {
    switch (info->objectType) {
      case VK_OBJECT_TYPE_SHADER_MODULE:
      case VK_OBJECT_TYPE_PIPELINE:
      case VK_OBJECT_TYPE_ACCELERATION_STRUCTURE_KHR: {
        const std::scoped_lock lock(device.names_mutex);
        device.names[info->objectHandle] = info->pObjectName != nullptr ? info->pObjectName : "";
        break;
      }
      default:
        break;
    }
  });
  return device.vk.SetDebugUtilsObjectNameEXT(handle, info);
}

// Command buffers.

// Recordings are destroyed outside the map's mutex: their operations may take other locks. Removal allocates nothing: a
// recording that stayed would be attributed to the command buffer's next content.

/// Removes the recordings that `wanted` chooses from the map; `forget`: with their command buffers.
template <typename Wanted>
void drop_recordings(Device& device, bool forget, const Wanted& wanted) {
  std::array<std::shared_ptr<CommandRecording>, 64> old;
  std::size_t count = old.size();
  while (count == old.size()) {
    count = 0;
    {
      const std::scoped_lock lock(device.recordings_mutex);
      for (auto at = device.recordings.begin(); at != device.recordings.end() && count < old.size();) {
        auto& known = at->second;
        const bool chosen = (forget || known.recording) && wanted(known);
        if (chosen) {
          old.at(count++) = std::move(known.recording);
        }
        at = chosen && forget ? device.recordings.erase(at) : std::next(at);
      }
    }
    for (auto& recording : old) {
      recording.reset();
    }
  }
}

/// Replaces the recording when the command buffer begins a new one.
void renew(Device& device, VkCommandBuffer commands, bool records) {
  std::shared_ptr<CommandRecording> old;
  const std::scoped_lock lock(device.recordings_mutex);
  const auto found = device.recordings.find(commands);
  if (found != device.recordings.end()) {
    old.swap(found->second.recording);
    if (records) {
      found->second.recording = std::make_shared<CommandRecording>(device, commands);
    }
  }
}

VkResult allocate_command_buffers(Device& device, VkDevice handle, const VkCommandBufferAllocateInfo* info,
                                  VkCommandBuffer* commands) {
  const auto result = device.vk.AllocateCommandBuffers(handle, info, commands);
  if (result == VK_SUCCESS) {
    attempt("following command buffers", [&] {
      const std::scoped_lock lock(device.recordings_mutex);
      for (std::uint32_t i = 0; i < info->commandBufferCount; ++i) {
        device.recordings[commands[i]] = {info->commandPool, nullptr};
      }
    });
  }
  return result;
}

void free_command_buffers(Device& device, VkDevice handle, VkCommandPool pool, std::uint32_t count,
                          const VkCommandBuffer* commands) {
  for (std::uint32_t i = 0; i < count; ++i) {
    std::shared_ptr<CommandRecording> old;
    const std::scoped_lock lock(device.recordings_mutex);
    if (const auto found = device.recordings.find(commands[i]); found != device.recordings.end()) {
      old.swap(found->second.recording);
      device.recordings.erase(found);
    }
  }
  device.vk.FreeCommandBuffers(handle, pool, count, commands);
}

VkResult begin_command_buffer(Device& device, VkCommandBuffer commands, const VkCommandBufferBeginInfo* info) {
  attempt("following a command buffer", [&] {
    renew(device, commands, true);
    if (auto* recording = recording_of(device, commands)) {
      recording->once = (info->flags & VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT) != 0;
    }
  });
  return device.vk.BeginCommandBuffer(commands, info);
}

VkResult reset_command_buffer(Device& device, VkCommandBuffer commands, VkCommandBufferResetFlags flags) {
  renew(device, commands, false);
  return device.vk.ResetCommandBuffer(commands, flags);
}

VkResult reset_command_pool(Device& device, VkDevice handle, VkCommandPool pool, VkCommandPoolResetFlags flags) {
  drop_recordings(device, false, [&](const KnownCommands& known) { return known.pool == pool; });
  return device.vk.ResetCommandPool(handle, pool, flags);
}

void destroy_command_pool(Device& device, VkDevice handle, VkCommandPool pool, const VkAllocationCallbacks* allocator) {
  drop_recordings(device, true, [&](const KnownCommands& known) { return known.pool == pool; });
  device.vk.DestroyCommandPool(handle, pool, allocator);
}

void execute_commands(Device& device, VkCommandBuffer commands, std::uint32_t count,
                      const VkCommandBuffer* secondaries) {
  attempt("following secondary command buffers", [&] {
    auto* primary = recording_of(device, commands);
    if (primary == nullptr) {
      return;
    }
    for (std::uint32_t i = 0; i < count; ++i) {
      if (const auto* secondary = recording_of(device, secondaries[i])) {
        primary->operations.insert(primary->operations.end(), secondary->operations.begin(),
                                   secondary->operations.end());
      }
    }
    // What is bound is undefined after secondary command buffers.
    primary->pipeline = nullptr;
    primary->stack_size = 0;
    primary->compute = VK_NULL_HANDLE;
  });
  device.vk.CmdExecuteCommands(commands, count, secondaries);
}

// Ray tracing.

/// The stack that the bound, instrumented pipeline needs; the application's if that is larger.
std::uint32_t clamped_stack(const CommandRecording& recording) {
  const auto* pipeline = recording.pipeline.get();
  const bool clamp = pipeline != nullptr && pipeline->instrumented && pipeline->dynamic_stack;
  return clamp ? std::max(recording.stack_size, pipeline->needed_stack) : recording.stack_size;
}

void bind_pipeline(Device& device, VkCommandBuffer commands, VkPipelineBindPoint point, VkPipeline pipeline) {
  device.vk.CmdBindPipeline(commands, point, pipeline);
  if (point == VK_PIPELINE_BIND_POINT_COMPUTE && device.lazy) {
    attempt("following a compute pipeline", [&] {
      if (auto* recording = recording_of(device, commands)) {
        recording->compute = pipeline;
      }
    });
  }
  if (point != VK_PIPELINE_BIND_POINT_RAY_TRACING_KHR) {
    return;
  }
  attempt("following a bound pipeline", [&] {
    auto* recording = recording_of(device, commands);
    if (recording == nullptr) {
      return;
    }
    recording->pipeline = device.pipelines->find(pipeline);
    const auto size = clamped_stack(*recording);
    if (recording->stack_size != 0 && size > recording->stack_size) {
      device.vk.CmdSetRayTracingPipelineStackSizeKHR(commands, size);
    }
  });
}

void set_stack_size(Device& device, VkCommandBuffer commands, std::uint32_t size) {
  auto wanted = size;
  attempt("following a stack size", [&] {
    if (auto* recording = recording_of(device, commands)) {
      recording->stack_size = size;
      wanted = clamped_stack(*recording);
    }
  });
  device.vk.CmdSetRayTracingPipelineStackSizeKHR(commands, wanted);
}

void trace_rays(Device& device, VkCommandBuffer commands, const VkStridedDeviceAddressRegionKHR* raygen,
                const VkStridedDeviceAddressRegionKHR* miss, const VkStridedDeviceAddressRegionKHR* hit,
                const VkStridedDeviceAddressRegionKHR* callable, std::uint32_t width, std::uint32_t height,
                std::uint32_t depth) {
  record_launch(device, commands, {LaunchKind::Direct, {{*raygen, *miss, *hit, *callable}}, width, height, depth, 0});
}

void trace_rays_indirect(Device& device, VkCommandBuffer commands, const VkStridedDeviceAddressRegionKHR* raygen,
                         const VkStridedDeviceAddressRegionKHR* miss, const VkStridedDeviceAddressRegionKHR* hit,
                         const VkStridedDeviceAddressRegionKHR* callable, VkDeviceAddress address) {
  record_launch(device, commands, {LaunchKind::Indirect, {{*raygen, *miss, *hit, *callable}}, 0, 0, 0, address});
}

void trace_rays_indirect2(Device& device, VkCommandBuffer commands, VkDeviceAddress address) {
  record_launch(device, commands, {LaunchKind::Indirect2, {}, 0, 0, 0, address});
}

std::span<const Intercept> own_intercepts() {
  static const Intercept table[] = {
      intercept<create_shader_module, &DeviceDispatch::CreateShaderModule>("vkCreateShaderModule"),
      intercept<destroy_shader_module, &DeviceDispatch::DestroyShaderModule>("vkDestroyShaderModule"),
      intercept<create_ray_tracing_pipelines, &DeviceDispatch::CreateRayTracingPipelinesKHR>(
          "vkCreateRayTracingPipelinesKHR"),
      intercept<create_compute_pipelines, &DeviceDispatch::CreateComputePipelines>("vkCreateComputePipelines"),
      intercept<create_graphics_pipelines, &DeviceDispatch::CreateGraphicsPipelines>("vkCreateGraphicsPipelines"),
      intercept<destroy_pipeline, &DeviceDispatch::DestroyPipeline>("vkDestroyPipeline"),
      intercept<set_object_name, &DeviceDispatch::SetDebugUtilsObjectNameEXT>("vkSetDebugUtilsObjectNameEXT"),
      intercept<allocate_command_buffers, &DeviceDispatch::AllocateCommandBuffers>("vkAllocateCommandBuffers"),
      intercept<free_command_buffers, &DeviceDispatch::FreeCommandBuffers>("vkFreeCommandBuffers"),
      intercept<begin_command_buffer, &DeviceDispatch::BeginCommandBuffer>("vkBeginCommandBuffer"),
      intercept<reset_command_buffer, &DeviceDispatch::ResetCommandBuffer>("vkResetCommandBuffer"),
      intercept<reset_command_pool, &DeviceDispatch::ResetCommandPool>("vkResetCommandPool"),
      intercept<destroy_command_pool, &DeviceDispatch::DestroyCommandPool>("vkDestroyCommandPool"),
      intercept<execute_commands, &DeviceDispatch::CmdExecuteCommands>("vkCmdExecuteCommands"),
      intercept<bind_pipeline, &DeviceDispatch::CmdBindPipeline>("vkCmdBindPipeline"),
      intercept<set_stack_size, &DeviceDispatch::CmdSetRayTracingPipelineStackSizeKHR>(
          "vkCmdSetRayTracingPipelineStackSizeKHR"),
      intercept<trace_rays, &DeviceDispatch::CmdTraceRaysKHR>("vkCmdTraceRaysKHR"),
      intercept<trace_rays_indirect, &DeviceDispatch::CmdTraceRaysIndirectKHR>("vkCmdTraceRaysIndirectKHR"),
      intercept<trace_rays_indirect2, &DeviceDispatch::CmdTraceRaysIndirect2KHR>("vkCmdTraceRaysIndirect2KHR"),
  };
  return table;
}

}  // namespace

const Intercept* find_intercept(std::string_view name) {
  const auto in = [&](std::span<const Intercept> table) -> const Intercept* {
    const auto found = std::find_if(table.begin(), table.end(), [&](const auto& row) { return row.name == name; });
    return found == table.end() ? nullptr : &*found;
  };
  const Intercept* found = in(own_intercepts());
  found = found != nullptr ? found : in(queue_intercepts());
  for (const auto& table : geometry::intercepts()) {
    found = found != nullptr ? found : in(table);
  }
  return found;
}

}  // namespace rayreplay::layer
