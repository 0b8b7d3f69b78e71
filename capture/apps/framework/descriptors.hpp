// One descriptor set with its layout, from a list of what is bound.
//
// Contract: binding i holds resources[i], visible to every ray-tracing stage. What is bound must outlive the set.
#pragma once

#include <variant>
#include <vector>

#include "capture/apps/framework/buffer.hpp"
#include "capture/apps/framework/device.hpp"

namespace rayreplay::apps {

struct UniformBinding {
  const Buffer* buffer = nullptr;
};
struct StorageBinding {
  const Buffer* buffer = nullptr;
};
struct ImageBinding {
  VkImageView view = VK_NULL_HANDLE;
};
struct StructureBinding {
  VkAccelerationStructureKHR structure = VK_NULL_HANDLE;
};
/// An array of images, samplers, or images with samplers; at least one.
struct ImagesBinding {
  VkDescriptorType type = VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER;
  std::vector<VkDescriptorImageInfo> images;
};
using Binding = std::variant<StructureBinding, ImageBinding, UniformBinding, StorageBinding, ImagesBinding>;

inline constexpr VkShaderStageFlags kRayTracingStages =
    VK_SHADER_STAGE_RAYGEN_BIT_KHR | VK_SHADER_STAGE_MISS_BIT_KHR | VK_SHADER_STAGE_CLOSEST_HIT_BIT_KHR |
    VK_SHADER_STAGE_ANY_HIT_BIT_KHR | VK_SHADER_STAGE_INTERSECTION_BIT_KHR;

class DescriptorSet {
 public:
  DescriptorSet(const Device& device, const std::vector<Binding>& resources);
  ~DescriptorSet();
  DescriptorSet(const DescriptorSet&) = delete;
  DescriptorSet& operator=(const DescriptorSet&) = delete;

  [[nodiscard]] VkDescriptorSetLayout layout() const {
    return layout_;
  }
  [[nodiscard]] VkDescriptorSet handle() const {
    return set_;
  }

 private:
  void create(const std::vector<Binding>& resources);
  void write(std::uint32_t binding, const Binding& resource);
  void release() noexcept;

  const Device* device_;
  VkDescriptorSetLayout layout_ = VK_NULL_HANDLE;
  VkDescriptorPool pool_ = VK_NULL_HANDLE;
  VkDescriptorSet set_ = VK_NULL_HANDLE;
};

}  // namespace rayreplay::apps
