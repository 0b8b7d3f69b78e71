// The commands that are made to fail: X(name, number of the argument by which a call is recognised, error).
//
// The layer passes a call of the application's on with the application's own pointer or handle in that place; calls of
// its own have another there.
#pragma once

#define RR_FAULT_COMMANDS(X)                                            \
  X(AllocateCommandBuffers, 2, VK_ERROR_OUT_OF_DEVICE_MEMORY)           \
  X(AllocateDescriptorSets, 2, VK_ERROR_OUT_OF_POOL_MEMORY)             \
  X(AllocateMemory, 3, VK_ERROR_OUT_OF_DEVICE_MEMORY)                   \
  X(BeginCommandBuffer, 1, VK_ERROR_OUT_OF_HOST_MEMORY)                 \
  X(BindBufferMemory, 1, VK_ERROR_OUT_OF_DEVICE_MEMORY)                 \
  X(CreateAccelerationStructureKHR, 3, VK_ERROR_OUT_OF_HOST_MEMORY)     \
  X(CreateBuffer, 3, VK_ERROR_OUT_OF_HOST_MEMORY)                       \
  X(CreateCommandPool, 3, VK_ERROR_OUT_OF_DEVICE_MEMORY)                \
  X(CreateComputePipelines, 5, VK_ERROR_OUT_OF_DEVICE_MEMORY)           \
  X(CreateDeferredOperationKHR, 2, VK_ERROR_OUT_OF_HOST_MEMORY)         \
  X(CreateDescriptorPool, 3, VK_ERROR_OUT_OF_HOST_MEMORY)               \
  X(CreateDescriptorSetLayout, 3, VK_ERROR_OUT_OF_HOST_MEMORY)          \
  X(CreateFence, 3, VK_ERROR_OUT_OF_HOST_MEMORY)                        \
  X(CreatePipelineLayout, 3, VK_ERROR_OUT_OF_HOST_MEMORY)               \
  X(CreateQueryPool, 3, VK_ERROR_OUT_OF_DEVICE_MEMORY)                  \
  X(CreateRayTracingPipelinesKHR, 6, VK_ERROR_OUT_OF_DEVICE_MEMORY)     \
  X(CreateSemaphore, 3, VK_ERROR_OUT_OF_HOST_MEMORY)                    \
  X(CreateShaderModule, 3, VK_ERROR_OUT_OF_HOST_MEMORY)                 \
  X(DeferredOperationJoinKHR, 1, VK_ERROR_OUT_OF_HOST_MEMORY)           \
  X(DeviceWaitIdle, 0, VK_ERROR_DEVICE_LOST)                            \
  X(EndCommandBuffer, 0, VK_ERROR_OUT_OF_DEVICE_MEMORY)                 \
  X(FlushMappedMemoryRanges, 2, VK_ERROR_OUT_OF_HOST_MEMORY)            \
  X(GetFenceStatus, 1, VK_ERROR_DEVICE_LOST)                            \
  X(GetQueryPoolResults, 5, VK_ERROR_DEVICE_LOST)                       \
  X(GetRayTracingShaderGroupHandlesKHR, 5, VK_ERROR_OUT_OF_HOST_MEMORY) \
  X(InvalidateMappedMemoryRanges, 2, VK_ERROR_OUT_OF_HOST_MEMORY)       \
  X(MapMemory, 5, VK_ERROR_MEMORY_MAP_FAILED)                           \
  X(QueueSubmit, 3, VK_ERROR_OUT_OF_DEVICE_MEMORY)                      \
  X(QueueSubmit2, 3, VK_ERROR_DEVICE_LOST)                              \
  X(QueueWaitIdle, 0, VK_ERROR_DEVICE_LOST)                             \
  X(ResetCommandBuffer, 0, VK_ERROR_OUT_OF_DEVICE_MEMORY)               \
  X(ResetCommandPool, 1, VK_ERROR_OUT_OF_DEVICE_MEMORY)                 \
  X(ResetFences, 2, VK_ERROR_OUT_OF_DEVICE_MEMORY)                      \
  X(SignalSemaphore, 1, VK_ERROR_OUT_OF_DEVICE_MEMORY)                  \
  X(WaitForFences, 2, VK_ERROR_DEVICE_LOST)                             \
  X(WaitSemaphores, 1, VK_ERROR_DEVICE_LOST)

/// Of instances and physical devices.
#define RR_FAULT_INSTANCE_COMMANDS(X)                \
  X(CreateInstance, 2, VK_ERROR_OUT_OF_HOST_MEMORY)  \
  X(CreateDevice, 3, VK_ERROR_INITIALIZATION_FAILED) \
  X(EnumerateDeviceExtensionProperties, 2, VK_ERROR_OUT_OF_HOST_MEMORY)

namespace rayreplay::test {

enum class Command : unsigned {
#define X(name, argument, error) name,
  RR_FAULT_COMMANDS(X) RR_FAULT_INSTANCE_COMMANDS(X)
#undef X
      Count
};

inline constexpr const char* kCommandNames[] = {
#define X(name, argument, error) "vk" #name,
    RR_FAULT_COMMANDS(X) RR_FAULT_INSTANCE_COMMANDS(X)
#undef X
};

}  // namespace rayreplay::test
