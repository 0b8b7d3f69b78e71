#include "capture/layer/geometry/image_table.hpp"

#include <algorithm>

namespace rayreplay::layer::geometry {
namespace {

std::shared_ptr<ImageView> unknown_view(const char* why) {
  auto made = std::make_shared<ImageView>();
  made->missing = why;
  return made;
}

}  // namespace

void ImageTable::add_image(VkImage image, const VkImageCreateInfo& info) {
  images_.erase(image);
  auto made = std::make_shared<spool::Image>();
  made->image = next_number_++;
  made->format = info.format;
  made->width = info.extent.width;
  made->height = info.extent.height;
  made->depth = info.extent.depth;
  made->layers = info.arrayLayers;
  made->levels = info.mipLevels;
  made->samples = static_cast<std::uint32_t>(info.samples);
  images_.emplace(image, std::move(made));
}

void ImageTable::remove_image(VkImage image) {
  images_.erase(image);
}

void ImageTable::add_swapchain(VkSwapchainKHR swapchain, const VkSwapchainCreateInfoKHR& info) {
  Swapchain made;
  made.image.format = info.imageFormat;
  made.image.width = info.imageExtent.width;
  made.image.height = info.imageExtent.height;
  made.image.depth = 1;
  made.image.layers = info.imageArrayLayers;
  made.image.levels = 1;
  made.image.samples = 1;
  swapchains_.insert_or_assign(swapchain, std::move(made));
}

void ImageTable::add_swapchain_images(VkSwapchainKHR swapchain, std::span<const VkImage> images) {
  const auto found = swapchains_.find(swapchain);
  if (found == swapchains_.end()) {
    return;
  }
  for (const VkImage image : images) {
    // Applications ask more than once; an image keeps its number.
    if (std::find(found->second.images.begin(), found->second.images.end(), image) != found->second.images.end()) {
      continue;
    }
    auto made = std::make_shared<spool::Image>(found->second.image);
    made->image = next_number_++;
    found->second.images.push_back(image);
    images_.insert_or_assign(image, std::move(made));
  }
}

void ImageTable::remove_swapchain(VkSwapchainKHR swapchain) {
  const auto found = swapchains_.find(swapchain);
  if (found != swapchains_.end()) {
    for (const VkImage image : found->second.images) {
      images_.erase(image);
    }
    swapchains_.erase(found);
  }
}

void ImageTable::add_view(VkImageView view, const VkImageViewCreateInfo& info) {
  remove_view(view);
  const auto image = images_.find(info.image);
  std::shared_ptr<ImageView> made;
  if (image == images_.end()) {
    made = unknown_view("its image was not seen when it was created");
  } else {
    made = std::make_shared<ImageView>();
    made->image = image->second;
  }
  made->format = info.format;
  made->base_layer = info.subresourceRange.baseArrayLayer;
  made->base_level = info.subresourceRange.baseMipLevel;
  views_.emplace(view, std::move(made));
}

void ImageTable::remove_view(VkImageView view) {
  const auto found = views_.find(view);
  if (found != views_.end()) {
    found->second->alive = false;
    views_.erase(found);
  }
}

void ImageTable::add_sampler(VkSampler sampler, const VkSamplerCreateInfo& info) {
  const bool nearest = info.magFilter == VK_FILTER_NEAREST && info.minFilter == VK_FILTER_NEAREST;
  samplers_[sampler] = nearest ? spool::ImageFilter::Nearest : spool::ImageFilter::Linear;
}

void ImageTable::remove_sampler(VkSampler sampler) {
  samplers_.erase(sampler);
}

ImageViewPointer ImageTable::view(VkImageView view) const {
  if (view == VK_NULL_HANDLE) {
    return nullptr;
  }
  const auto found = views_.find(view);
  return found == views_.end() ? unknown_view("its image view was not seen when it was created") : found->second;
}

spool::ImageFilter ImageTable::filter(VkSampler sampler) const {
  const auto found = samplers_.find(sampler);
  return found == samplers_.end() ? spool::ImageFilter::None : found->second;
}

}  // namespace rayreplay::layer::geometry
