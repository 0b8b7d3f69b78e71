// Images that lie in descriptors while rays are traced; no shader uses them.
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

  /// Writes the images into the set, in this order or turned round.
  void write(bool turned) const;
  /// Binds the set for ray tracing, behind the number of the triangle's.
  void bind(VkCommandBuffer commands) const;

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
