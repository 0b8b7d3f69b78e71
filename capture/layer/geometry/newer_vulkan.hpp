// Structures of VK_KHR_maintenance6 (Vulkan 1.4), which the headers we build with may not have yet.
#pragma once

#include <vulkan/vulkan.h>

#include <cstdint>

namespace rayreplay::layer::geometry {

struct BindDescriptorSetsInfo {
  VkStructureType type;
  const void* next;
  VkShaderStageFlags stages;
  VkPipelineLayout layout;
  std::uint32_t first_set, set_count;
  const VkDescriptorSet* sets;
  std::uint32_t dynamic_offset_count;
  const std::uint32_t* dynamic_offsets;
};

struct PushDescriptorSetInfo {
  VkStructureType type;
  const void* next;
  VkShaderStageFlags stages;
  VkPipelineLayout layout;
  std::uint32_t set, write_count;
  const VkWriteDescriptorSet* writes;
};

struct PushDescriptorSetWithTemplateInfo {
  VkStructureType type;
  const void* next;
  VkDescriptorUpdateTemplate update_template;
  VkPipelineLayout layout;
  std::uint32_t set;
  const void* data;
};

struct SetDescriptorBufferOffsetsInfo {
  VkStructureType type;
  const void* next;
  VkShaderStageFlags stages;
  VkPipelineLayout layout;
  std::uint32_t first_set, set_count;
  const std::uint32_t* buffer_indices;
  const VkDeviceSize* offsets;
};

using BindDescriptorSets2 = void(VKAPI_PTR*)(VkCommandBuffer, const BindDescriptorSetsInfo*);
using PushDescriptorSet2 = void(VKAPI_PTR*)(VkCommandBuffer, const PushDescriptorSetInfo*);
using PushDescriptorSetWithTemplate2 = void(VKAPI_PTR*)(VkCommandBuffer, const PushDescriptorSetWithTemplateInfo*);
using SetDescriptorBufferOffsets2 = void(VKAPI_PTR*)(VkCommandBuffer, const SetDescriptorBufferOffsetsInfo*);

/// Shader stages of the ray-tracing bind point.
inline constexpr VkShaderStageFlags kRayStages =
    VK_SHADER_STAGE_RAYGEN_BIT_KHR | VK_SHADER_STAGE_ANY_HIT_BIT_KHR | VK_SHADER_STAGE_CLOSEST_HIT_BIT_KHR |
    VK_SHADER_STAGE_MISS_BIT_KHR | VK_SHADER_STAGE_INTERSECTION_BIT_KHR | VK_SHADER_STAGE_CALLABLE_BIT_KHR;

}  // namespace rayreplay::layer::geometry
