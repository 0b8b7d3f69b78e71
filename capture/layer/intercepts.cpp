#include "capture/layer/intercepts.hpp"

#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "capture/layer/geometry/hooks.hpp"
#include "capture/layer/launches.hpp"
#include "capture/layer/pipelines.hpp"
#include "capture/layer/process.hpp"
#include "capture/layer/queue_intercepts.hpp"
#include "capture/layer/shaders.hpp"

namespace rayreplay::layer {
namespace {

// Every function passes the application's call on exactly once, unchanged where it can be; what the layer does of its
// own is inside attempt().

/// Runs `work` on devices that are instrumented.
template <typename Work>
void observe(Device& device, const char* what, Work&& work) {
  if (device.instrumented) {
    attempt(what, std::forward<Work>(work));
  }
}

// Shader modules and pipelines.

VKAPI_ATTR VkResult VKAPI_CALL create_shader_module(VkDevice handle, const VkShaderModuleCreateInfo* info,
                                                    const VkAllocationCallbacks* allocator, VkShaderModule* module) {
  auto& device = *device_of(handle);
  const auto result = device.vk.CreateShaderModule(handle, info, allocator, module);
  if (result == VK_SUCCESS) {
    observe(device, "keeping a shader module", [&] { device.shaders->created(*module, *info); });
  }
  return result;
}

void forget_name(Device& device, std::uint64_t object) {
  const std::scoped_lock lock(device.names_mutex);
  device.names.erase(object);
}

VKAPI_ATTR void VKAPI_CALL destroy_shader_module(VkDevice handle, VkShaderModule module,
                                                 const VkAllocationCallbacks* allocator) {
  auto& device = *device_of(handle);
  if (module != VK_NULL_HANDLE) {
    observe(device, "forgetting a shader module", [&] {
      device.shaders->destroyed(module);
      forget_name(device, reinterpret_cast<std::uint64_t>(module));
    });
  }
  device.vk.DestroyShaderModule(handle, module, allocator);
}

VKAPI_ATTR VkResult VKAPI_CALL create_ray_tracing_pipelines(VkDevice handle, VkDeferredOperationKHR deferred,
                                                            VkPipelineCache cache, std::uint32_t count,
                                                            const VkRayTracingPipelineCreateInfoKHR* infos,
                                                            const VkAllocationCallbacks* allocator,
                                                            VkPipeline* pipelines) {
  auto& device = *device_of(handle);
  if (!device.instrumented) {
    return device.vk.CreateRayTracingPipelinesKHR(handle, deferred, cache, count, infos, allocator, pipelines);
  }
  return device.pipelines->create(deferred, cache, count, infos, allocator, pipelines);
}

VKAPI_ATTR void VKAPI_CALL destroy_pipeline(VkDevice handle, VkPipeline pipeline,
                                            const VkAllocationCallbacks* allocator) {
  auto& device = *device_of(handle);
  if (pipeline != VK_NULL_HANDLE) {
    observe(device, "forgetting a pipeline", [&] {
      device.pipelines->destroyed(pipeline);
      forget_name(device, reinterpret_cast<std::uint64_t>(pipeline));
    });
  }
  device.vk.DestroyPipeline(handle, pipeline, allocator);
}

VKAPI_ATTR VkResult VKAPI_CALL set_object_name(VkDevice handle, const VkDebugUtilsObjectNameInfoEXT* info) {
  auto& device = *device_of(handle);
  observe(device, "keeping a name", [&] {
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

// Recordings are destroyed after the map's mutex is free: their operations may take other locks.
using Recordings = std::vector<std::shared_ptr<CommandRecording>>;

std::shared_ptr<CommandRecording> new_recording(Device& device, VkCommandBuffer commands, VkCommandPool pool,
                                                bool secondary) {
  return std::make_shared<CommandRecording>(
      CommandRecording{device, commands, pool, secondary, {}, 0, nullptr, 0, VK_NULL_HANDLE, false, nullptr});
}

void renew(Device& device, VkCommandBuffer commands) {
  Recordings old;
  const std::scoped_lock lock(device.recordings_mutex);
  const auto found = device.recordings.find(commands);
  if (found != device.recordings.end()) {
    old.push_back(found->second);
    found->second = new_recording(device, commands, old.front()->pool, old.front()->secondary);
  }
}

VKAPI_ATTR VkResult VKAPI_CALL allocate_command_buffers(VkDevice handle, const VkCommandBufferAllocateInfo* info,
                                                        VkCommandBuffer* commands) {
  auto& device = *device_of(handle);
  const auto result = device.vk.AllocateCommandBuffers(handle, info, commands);
  if (result == VK_SUCCESS) {
    observe(device, "following command buffers", [&] {
      const std::scoped_lock lock(device.recordings_mutex);
      for (std::uint32_t i = 0; i < info->commandBufferCount; ++i) {
        device.recordings[commands[i]] =
            new_recording(device, commands[i], info->commandPool, info->level == VK_COMMAND_BUFFER_LEVEL_SECONDARY);
      }
    });
  }
  return result;
}

VKAPI_ATTR void VKAPI_CALL free_command_buffers(VkDevice handle, VkCommandPool pool, std::uint32_t count,
                                                const VkCommandBuffer* commands) {
  auto& device = *device_of(handle);
  observe(device, "forgetting command buffers", [&] {
    Recordings old;
    const std::scoped_lock lock(device.recordings_mutex);
    for (std::uint32_t i = 0; i < count; ++i) {
      if (const auto found = device.recordings.find(commands[i]); found != device.recordings.end()) {
        old.push_back(std::move(found->second));
        device.recordings.erase(found);
      }
    }
  });
  device.vk.FreeCommandBuffers(handle, pool, count, commands);
}

VKAPI_ATTR VkResult VKAPI_CALL begin_command_buffer(VkCommandBuffer commands, const VkCommandBufferBeginInfo* info) {
  auto& device = *device_of(commands);
  observe(device, "following a command buffer", [&] {
    renew(device, commands);
    if (auto* recording = recording_of(device, commands)) {
      recording->once = (info->flags & VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT) != 0;
    }
  });
  return device.vk.BeginCommandBuffer(commands, info);
}

VKAPI_ATTR VkResult VKAPI_CALL reset_command_buffer(VkCommandBuffer commands, VkCommandBufferResetFlags flags) {
  auto& device = *device_of(commands);
  observe(device, "resetting a command buffer", [&] { renew(device, commands); });
  return device.vk.ResetCommandBuffer(commands, flags);
}

VKAPI_ATTR VkResult VKAPI_CALL reset_command_pool(VkDevice handle, VkCommandPool pool, VkCommandPoolResetFlags flags) {
  auto& device = *device_of(handle);
  observe(device, "resetting a command pool", [&] {
    Recordings old;
    const std::scoped_lock lock(device.recordings_mutex);
    for (auto& [commands, recording] : device.recordings) {
      if (recording->pool == pool && !recording->operations.empty()) {
        old.push_back(recording);
        recording = new_recording(device, commands, pool, recording->secondary);
      }
    }
  });
  return device.vk.ResetCommandPool(handle, pool, flags);
}

VKAPI_ATTR void VKAPI_CALL destroy_command_pool(VkDevice handle, VkCommandPool pool,
                                                const VkAllocationCallbacks* allocator) {
  auto& device = *device_of(handle);
  observe(device, "forgetting a command pool", [&] {
    Recordings old;
    const std::scoped_lock lock(device.recordings_mutex);
    std::erase_if(device.recordings, [&](auto& entry) {
      if (entry.second->pool != pool) {
        return false;
      }
      old.push_back(std::move(entry.second));
      return true;
    });
  });
  device.vk.DestroyCommandPool(handle, pool, allocator);
}

VKAPI_ATTR void VKAPI_CALL execute_commands(VkCommandBuffer commands, std::uint32_t count,
                                            const VkCommandBuffer* secondaries) {
  auto& device = *device_of(commands);
  observe(device, "following secondary command buffers", [&] {
    auto* primary = recording_of(device, commands);
    if (primary == nullptr) {
      return;
    }
    for (std::uint32_t i = 0; i < count; ++i) {
      if (const auto* secondary = recording_of(device, secondaries[i])) {
        primary->operations.insert(primary->operations.end(), secondary->operations.begin(),
                                   secondary->operations.end());
        primary->launches += secondary->launches;
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

VKAPI_ATTR void VKAPI_CALL bind_pipeline(VkCommandBuffer commands, VkPipelineBindPoint point, VkPipeline pipeline) {
  auto& device = *device_of(commands);
  device.vk.CmdBindPipeline(commands, point, pipeline);
  if (point == VK_PIPELINE_BIND_POINT_COMPUTE && device.lazy) {
    observe(device, "following a compute pipeline", [&] {
      if (auto* recording = recording_of(device, commands)) {
        recording->compute = pipeline;
      }
    });
  }
  if (point != VK_PIPELINE_BIND_POINT_RAY_TRACING_KHR) {
    return;
  }
  observe(device, "following a bound pipeline", [&] {
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

VKAPI_ATTR void VKAPI_CALL set_stack_size(VkCommandBuffer commands, std::uint32_t size) {
  auto& device = *device_of(commands);
  auto wanted = size;
  observe(device, "following a stack size", [&] {
    if (auto* recording = recording_of(device, commands)) {
      recording->stack_size = size;
      wanted = clamped_stack(*recording);
    }
  });
  device.vk.CmdSetRayTracingPipelineStackSizeKHR(commands, wanted);
}

VKAPI_ATTR void VKAPI_CALL trace_rays(VkCommandBuffer commands, const VkStridedDeviceAddressRegionKHR* raygen,
                                      const VkStridedDeviceAddressRegionKHR* miss,
                                      const VkStridedDeviceAddressRegionKHR* hit,
                                      const VkStridedDeviceAddressRegionKHR* callable, std::uint32_t width,
                                      std::uint32_t height, std::uint32_t depth) {
  auto& device = *device_of(commands);
  if (!device.instrumented) {
    device.vk.CmdTraceRaysKHR(commands, raygen, miss, hit, callable, width, height, depth);
    return;
  }
  record_launch(device, commands, {LaunchKind::Direct, {{*raygen, *miss, *hit, *callable}}, width, height, depth, 0});
}

VKAPI_ATTR void VKAPI_CALL trace_rays_indirect(VkCommandBuffer commands, const VkStridedDeviceAddressRegionKHR* raygen,
                                               const VkStridedDeviceAddressRegionKHR* miss,
                                               const VkStridedDeviceAddressRegionKHR* hit,
                                               const VkStridedDeviceAddressRegionKHR* callable,
                                               VkDeviceAddress address) {
  auto& device = *device_of(commands);
  if (!device.instrumented) {
    device.vk.CmdTraceRaysIndirectKHR(commands, raygen, miss, hit, callable, address);
    return;
  }
  record_launch(device, commands, {LaunchKind::Indirect, {{*raygen, *miss, *hit, *callable}}, 0, 0, 0, address});
}

VKAPI_ATTR void VKAPI_CALL trace_rays_indirect2(VkCommandBuffer commands, VkDeviceAddress address) {
  auto& device = *device_of(commands);
  if (!device.instrumented) {
    device.vk.CmdTraceRaysIndirect2KHR(commands, address);
    return;
  }
  record_launch(device, commands, {LaunchKind::Indirect2, {}, 0, 0, 0, address});
}

template <typename Function>
PFN_vkVoidFunction erased(Function* function) {
  return reinterpret_cast<PFN_vkVoidFunction>(function);
}

std::unordered_map<std::string_view, PFN_vkVoidFunction> make_table() {
  std::unordered_map<std::string_view, PFN_vkVoidFunction> table = {
      {"vkCreateShaderModule", erased(create_shader_module)},
      {"vkDestroyShaderModule", erased(destroy_shader_module)},
      {"vkCreateRayTracingPipelinesKHR", erased(create_ray_tracing_pipelines)},
      {"vkDestroyPipeline", erased(destroy_pipeline)},
      {"vkSetDebugUtilsObjectNameEXT", erased(set_object_name)},
      {"vkAllocateCommandBuffers", erased(allocate_command_buffers)},
      {"vkFreeCommandBuffers", erased(free_command_buffers)},
      {"vkBeginCommandBuffer", erased(begin_command_buffer)},
      {"vkResetCommandBuffer", erased(reset_command_buffer)},
      {"vkResetCommandPool", erased(reset_command_pool)},
      {"vkDestroyCommandPool", erased(destroy_command_pool)},
      {"vkCmdExecuteCommands", erased(execute_commands)},
      {"vkCmdBindPipeline", erased(bind_pipeline)},
      {"vkCmdSetRayTracingPipelineStackSizeKHR", erased(set_stack_size)},
      {"vkCmdTraceRaysKHR", erased(trace_rays)},
      {"vkCmdTraceRaysIndirectKHR", erased(trace_rays_indirect)},
      {"vkCmdTraceRaysIndirect2KHR", erased(trace_rays_indirect2)},
  };
  for (const auto& intercept : queue_intercepts()) {
    table.emplace(intercept.name, intercept.function);
  }
  for (const auto& intercept : geometry::intercepts()) {
    table.emplace(intercept.name, intercept.function);
  }
  return table;
}

}  // namespace

PFN_vkVoidFunction find_intercept(std::string_view name) {
  // Never destroyed: an application may ask while its own static objects are destroyed, after the layer's.
  static const auto& table = *new auto(make_table());
  const auto found = table.find(name);
  return found == table.end() ? nullptr : found->second;
}

}  // namespace rayreplay::layer
