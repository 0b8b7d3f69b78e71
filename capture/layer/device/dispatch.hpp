// The next layer's (or driver's) functions, as tables.
//
// Contract: a member is false if the next layer lacks the function. Functions promoted to core without change are
// looked up by core name, then with KHR and EXT; they are called by the name written here. Loading allocates nothing.
#pragma once

#include <vulkan/vulkan.h>

#include "capture/layer/geometry/newer_vulkan.hpp"
#include "capture/layer/next.hpp"

#define RR_INSTANCE_FUNCTIONS(X)            \
  X(DestroyInstance)                        \
  X(EnumerateDeviceExtensionProperties)     \
  X(GetPhysicalDeviceFeatures)              \
  X(GetPhysicalDeviceFeatures2)             \
  X(GetPhysicalDeviceMemoryProperties)      \
  X(GetPhysicalDeviceProperties)            \
  X(GetPhysicalDeviceProperties2)           \
  X(GetPhysicalDeviceQueueFamilyProperties) \
  X(EnumeratePhysicalDevices)

#define RR_DEVICE_FUNCTIONS(X)                   \
  X(AllocateCommandBuffers)                      \
  X(AllocateDescriptorSets)                      \
  X(AllocateMemory)                              \
  X(BeginCommandBuffer)                          \
  X(BindBufferMemory)                            \
  X(BindBufferMemory2)                           \
  X(BuildAccelerationStructuresKHR)              \
  X(CmdBindDescriptorSets)                       \
  X(CmdBindPipeline)                             \
  X(CmdBuildAccelerationStructuresIndirectKHR)   \
  X(CmdBuildAccelerationStructuresKHR)           \
  X(CmdCopyAccelerationStructureKHR)             \
  X(CmdCopyAccelerationStructureToMemoryKHR)     \
  X(CmdCopyBuffer)                               \
  X(CmdCopyMemoryToAccelerationStructureKHR)     \
  X(CmdDispatch)                                 \
  X(CmdDispatchBase)                             \
  X(CmdExecuteCommands)                          \
  X(CmdFillBuffer)                               \
  X(CmdPipelineBarrier)                          \
  X(CmdPushConstants)                            \
  X(CmdPushDescriptorSetKHR)                     \
  X(CmdPushDescriptorSetWithTemplateKHR)         \
  X(CmdResetQueryPool)                           \
  X(CmdSetDescriptorBufferOffsetsEXT)            \
  X(CmdSetRayTracingPipelineStackSizeKHR)        \
  X(CmdTraceRaysIndirect2KHR)                    \
  X(CmdTraceRaysIndirectKHR)                     \
  X(CmdTraceRaysKHR)                             \
  X(CmdUpdateBuffer)                             \
  X(CmdWriteAccelerationStructuresPropertiesKHR) \
  X(CmdWriteTimestamp)                           \
  X(CopyAccelerationStructureKHR)                \
  X(CopyAccelerationStructureToMemoryKHR)        \
  X(CopyMemoryToAccelerationStructureKHR)        \
  X(CreateAccelerationStructureKHR)              \
  X(CreateBuffer)                                \
  X(CreateCommandPool)                           \
  X(CreateComputePipelines)                      \
  X(CreateDescriptorPool)                        \
  X(CreateDescriptorSetLayout)                   \
  X(CreateDescriptorUpdateTemplate)              \
  X(CreateFence)                                 \
  X(CreateGraphicsPipelines)                     \
  X(CreateImage)                                 \
  X(CreateImageView)                             \
  X(CreatePipelineLayout)                        \
  X(CreateQueryPool)                             \
  X(CreateRayTracingPipelinesKHR)                \
  X(CreateSampler)                               \
  X(CreateShaderModule)                          \
  X(CreateSwapchainKHR)                          \
  X(DeferredOperationJoinKHR)                    \
  X(DestroyAccelerationStructureKHR)             \
  X(DestroyBuffer)                               \
  X(DestroyCommandPool)                          \
  X(DestroyDeferredOperationKHR)                 \
  X(DestroyDescriptorPool)                       \
  X(DestroyDescriptorSetLayout)                  \
  X(DestroyDescriptorUpdateTemplate)             \
  X(DestroyDevice)                               \
  X(DestroyFence)                                \
  X(DestroyImage)                                \
  X(DestroyImageView)                            \
  X(DestroyPipeline)                             \
  X(DestroyPipelineLayout)                       \
  X(DestroyQueryPool)                            \
  X(DestroySampler)                              \
  X(DestroyShaderModule)                         \
  X(DestroySwapchainKHR)                         \
  X(DeviceWaitIdle)                              \
  X(EndCommandBuffer)                            \
  X(FlushMappedMemoryRanges)                     \
  X(FreeCommandBuffers)                          \
  X(FreeDescriptorSets)                          \
  X(FreeMemory)                                  \
  X(GetAccelerationStructureBuildSizesKHR)       \
  X(GetAccelerationStructureDeviceAddressKHR)    \
  X(GetBufferDeviceAddress)                      \
  X(GetBufferMemoryRequirements)                 \
  X(GetDeferredOperationResultKHR)               \
  X(GetDeviceBufferMemoryRequirements)           \
  X(GetDeviceQueue)                              \
  X(GetDeviceQueue2)                             \
  X(GetFenceStatus)                              \
  X(GetPipelineExecutablePropertiesKHR)          \
  X(GetPipelineExecutableStatisticsKHR)          \
  X(GetQueryPoolResults)                         \
  X(GetRayTracingShaderGroupHandlesKHR)          \
  X(GetRayTracingShaderGroupStackSizeKHR)        \
  X(GetSemaphoreCounterValue)                    \
  X(GetSwapchainImagesKHR)                       \
  X(InvalidateMappedMemoryRanges)                \
  X(MapMemory)                                   \
  X(QueueBindSparse)                             \
  X(QueuePresentKHR)                             \
  X(QueueSubmit)                                 \
  X(QueueSubmit2)                                \
  X(QueueWaitIdle)                               \
  X(ResetCommandBuffer)                          \
  X(ResetCommandPool)                            \
  X(ResetDescriptorPool)                         \
  X(ResetFences)                                 \
  X(SetDebugUtilsObjectNameEXT)                  \
  X(UnmapMemory)                                 \
  X(UpdateDescriptorSetWithTemplate)             \
  X(UpdateDescriptorSets)                        \
  X(WaitForFences)                               \
  X(WaitSemaphores)                              \
  X(WriteAccelerationStructuresPropertiesKHR)

/// Functions that the headers may not have yet, with their types.
#define RR_NEWER_DEVICE_FUNCTIONS(X)                                             \
  X(CmdBindDescriptorSets2, geometry::BindDescriptorSets2)                       \
  X(CmdPushDescriptorSet2, geometry::PushDescriptorSet2)                         \
  X(CmdPushDescriptorSetWithTemplate2, geometry::PushDescriptorSetWithTemplate2) \
  X(CmdSetDescriptorBufferOffsets2EXT, geometry::SetDescriptorBufferOffsets2)

namespace rayreplay::layer {

struct InstanceDispatch {
  PFN_vkGetInstanceProcAddr GetInstanceProcAddr = nullptr;
#define X(name) PFN_vk##name name = nullptr;
  RR_INSTANCE_FUNCTIONS(X)
#undef X
  void load(VkInstance instance, PFN_vkGetInstanceProcAddr next);
};

struct DeviceDispatch {
  PFN_vkGetDeviceProcAddr GetDeviceProcAddr = nullptr;
#define X(name) Next<PFN_vk##name> name;
  RR_DEVICE_FUNCTIONS(X)
#undef X
#define X(name, type) Next<type> name;
  RR_NEWER_DEVICE_FUNCTIONS(X)
#undef X
  void load(VkDevice device, PFN_vkGetDeviceProcAddr next);
};

}  // namespace rayreplay::layer
