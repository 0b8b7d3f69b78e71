// The images, image views and samplers of a device, as far as descriptors of shaders can show them.
//
// Contract: follows creation and destruction, images of swapchains included. A descriptor keeps the view that was
// written into it: a view whose handle was destroyed and given again is another view. A view of an image that was
// not seen, and a view that was not seen itself, say so (`missing`). Not thread-safe: its owner locks. O(1) for each
// call.
#pragma once

#include <vulkan/vulkan.h>

#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "capture/spool/format.hpp"

namespace rayreplay::layer::geometry {

struct ImageView {
  std::shared_ptr<const spool::Image> image;  ///< null: unknown
  const char* missing = "";                   ///< why, if it is unknown
  std::int32_t format = 0;                    ///< VkFormat, of the view
  std::uint32_t base_layer = 0, base_level = 0;
  bool alive = true;  ///< not destroyed yet
};
using ImageViewPointer = std::shared_ptr<const ImageView>;

class ImageTable {
 public:
  void add_image(VkImage image, const VkImageCreateInfo& info);
  void remove_image(VkImage image);

  void add_swapchain(VkSwapchainKHR swapchain, const VkSwapchainCreateInfoKHR& info);
  void add_swapchain_images(VkSwapchainKHR swapchain, std::span<const VkImage> images);
  void remove_swapchain(VkSwapchainKHR swapchain);  ///< and its images

  void add_view(VkImageView view, const VkImageViewCreateInfo& info);
  void remove_view(VkImageView view);

  void add_sampler(VkSampler sampler, const VkSamplerCreateInfo& info);
  void remove_sampler(VkSampler sampler);

  /// Null for the null handle alone.
  [[nodiscard]] ImageViewPointer view(VkImageView view) const;
  /// Linear if the sampler has a linear filter for larger or for smaller pictures. None for an unknown one.
  [[nodiscard]] spool::ImageFilter filter(VkSampler sampler) const;

 private:
  struct Swapchain {
    spool::Image image;  ///< of each of its images, but for the number
    std::vector<VkImage> images;
  };

  std::unordered_map<VkImage, std::shared_ptr<const spool::Image>> images_;
  std::unordered_map<VkSwapchainKHR, Swapchain> swapchains_;
  std::unordered_map<VkImageView, std::shared_ptr<ImageView>> views_;
  std::unordered_map<VkSampler, spool::ImageFilter> samplers_;
  std::uint32_t next_number_ = 0;
};

}  // namespace rayreplay::layer::geometry
