// Images that lie in descriptors while rays are traced: one as a storage image, one with a linear sampler that repeats.
// Shaders of PipelineStyle::Images access them, others do not.
#pragma once

#include <array>

#include "vulkan_context.hpp"

namespace scenario {

class Images {
 public:
  explicit Images(Context& context);
  Images(const Images&) = delete;
  Images& operator=(const Images&) = delete;
  ~Images();

  /// Makes both images ready for any use by shaders, all texels of one colour.
  void fill(VkCommandBuffer commands) const;
  /// Writes the images into the set, in this order or turned round.
  void write(bool turned) const;
  /// Binds the set for ray tracing, behind the number of the triangle's.
  void bind(VkCommandBuffer commands) const;
  [[nodiscard]] VkDescriptorSetLayout layout() const {
    return set_layout_;
  }

 private:
  struct Picture {
    VkImage image = VK_NULL_HANDLE;
    VkDeviceMemory memory = VK_NULL_HANDLE;
    VkImageView view = VK_NULL_HANDLE;
  };
  [[nodiscard]] Picture make_picture(std::uint32_t side) const;

  Context& context_;
  std::array<Picture, 2> pictures_{};
  VkSampler sampler_ = VK_NULL_HANDLE;
  VkDescriptorSetLayout set_layout_ = VK_NULL_HANDLE;
  VkPipelineLayout layout_ = VK_NULL_HANDLE;
  VkDescriptorPool pool_ = VK_NULL_HANDLE;
  VkDescriptorSet set_ = VK_NULL_HANDLE;
};

}  // namespace scenario
