// Images for tests, of any shape: each texel holds its own place, so that what a shader reads tells where from.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <vector>

#include "capture/apps/framework/buffer.hpp"
#include "capture/apps/framework/result.hpp"

namespace rayreplay::test {

struct ImageShape {
  VkImageType type = VK_IMAGE_TYPE_2D;
  VkImageViewType view = VK_IMAGE_VIEW_TYPE_2D;
  std::uint32_t width = 1, height = 1, depth = 1, layers = 1, levels = 1;
  std::uint32_t channel_bytes = 4;  ///< 1, 2, 4: of four unsigned integers; 0: one of 32 bits
  bool stored = false;              ///< shaders write it

  [[nodiscard]] VkFormat format() const {
    return channel_bytes == 0   ? VK_FORMAT_R32_UINT
           : channel_bytes == 1 ? VK_FORMAT_R8G8B8A8_UINT
           : channel_bytes == 2 ? VK_FORMAT_R16G16B16A16_UINT
                                : VK_FORMAT_R32G32B32A32_UINT;
  }
};

/// A texel's channels: x, y, z or layer, level. Of one channel: x + 256 · y.
class TestImage {
 public:
  TestImage(const apps::Device& device, const ImageShape& shape) : device_(&device), shape_(shape) {
    try {
      create();
      fill();
    } catch (...) {
      release();
      throw;
    }
  }
  ~TestImage() {
    release();
  }
  TestImage(const TestImage&) = delete;
  TestImage& operator=(const TestImage&) = delete;

  [[nodiscard]] const ImageShape& shape() const {
    return shape_;
  }
  /// A view of levels and layers; it lives as long as the image.
  [[nodiscard]] VkImageView view(std::uint32_t level, std::uint32_t levels, std::uint32_t layer, std::uint32_t layers) {
    VkImageViewCreateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO;
    info.image = image_;
    info.viewType = shape_.view;
    info.format = shape_.format();
    info.subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, level, levels, layer, layers};
    VkImageView view = VK_NULL_HANDLE;
    apps::require_success(vkCreateImageView(device_->handle(), &info, nullptr, &view), "vkCreateImageView");
    return views_.emplace_back(view);
  }

 private:
  void create() {
    VkImageCreateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO;
    const bool cube = shape_.view == VK_IMAGE_VIEW_TYPE_CUBE || shape_.view == VK_IMAGE_VIEW_TYPE_CUBE_ARRAY;
    info.flags = cube ? VK_IMAGE_CREATE_CUBE_COMPATIBLE_BIT : 0;
    info.imageType = shape_.type;
    info.format = shape_.format();
    info.extent = {shape_.width, shape_.height, shape_.depth};
    info.mipLevels = shape_.levels;
    info.arrayLayers = shape_.layers;
    info.samples = VK_SAMPLE_COUNT_1_BIT;
    info.tiling = VK_IMAGE_TILING_OPTIMAL;
    info.usage =
        VK_IMAGE_USAGE_TRANSFER_DST_BIT | (shape_.stored ? VK_IMAGE_USAGE_STORAGE_BIT : VK_IMAGE_USAGE_SAMPLED_BIT);
    apps::require_success(vkCreateImage(device_->handle(), &info, nullptr, &image_), "vkCreateImage");
    VkMemoryRequirements needs{};
    vkGetImageMemoryRequirements(device_->handle(), image_, &needs);
    VkMemoryAllocateInfo memory{};
    memory.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO;
    memory.allocationSize = needs.size;
    memory.memoryTypeIndex = device_->memory_type(needs.memoryTypeBits, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT, 0);
    apps::require_success(vkAllocateMemory(device_->handle(), &memory, nullptr, &memory_), "vkAllocateMemory");
    apps::require_success(vkBindImageMemory(device_->handle(), image_, memory_, 0), "vkBindImageMemory");
  }

  void add_texel(std::vector<std::byte>& bytes, const std::array<std::uint32_t, 4>& at) const {
    const auto add = [&](std::uint32_t value, std::uint32_t size) {
      std::array<std::byte, 4> word{};
      std::memcpy(word.data(), &value, 4);
      bytes.insert(bytes.end(), word.begin(), word.begin() + size);
    };
    if (shape_.channel_bytes == 0) {
      return add(at[0] + 256 * at[1], 4);
    }
    for (const std::uint32_t channel : at) {
      add(channel, shape_.channel_bytes);
    }
  }

  void fill() {
    std::vector<std::byte> bytes;
    std::vector<VkBufferImageCopy> regions;
    for (std::uint32_t level = 0; level < shape_.levels; ++level) {
      const VkExtent3D extent{std::max(shape_.width >> level, 1U), std::max(shape_.height >> level, 1U),
                              std::max(shape_.depth >> level, 1U)};
      VkBufferImageCopy region{};
      region.bufferOffset = bytes.size();
      region.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, level, 0, shape_.layers};
      region.imageExtent = extent;
      regions.push_back(region);
      for (std::uint32_t z = 0; z < extent.depth * shape_.layers; ++z) {
        for (std::uint32_t y = 0; y < extent.height; ++y) {
          for (std::uint32_t x = 0; x < extent.width; ++x) {
            add_texel(bytes, {x, y, z, level});
          }
        }
      }
      bytes.resize(apps::align(bytes.size(), 16));
    }
    const apps::Buffer staging(*device_, bytes.size(), VK_BUFFER_USAGE_TRANSFER_SRC_BIT, apps::MemoryKind::Upload);
    std::memcpy(staging.mapped(), bytes.data(), bytes.size());
    device_->submit([&](VkCommandBuffer commands) {
      move(commands, VK_IMAGE_LAYOUT_UNDEFINED, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL);
      vkCmdCopyBufferToImage(commands, staging.handle(), image_, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL,
                             static_cast<std::uint32_t>(regions.size()), regions.data());
      move(commands, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, VK_IMAGE_LAYOUT_GENERAL);
    });
  }

  void move(VkCommandBuffer commands, VkImageLayout from, VkImageLayout to) const {
    VkImageMemoryBarrier barrier{};
    barrier.sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER;
    barrier.srcAccessMask = VK_ACCESS_MEMORY_WRITE_BIT;
    barrier.dstAccessMask = VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT;
    barrier.oldLayout = from;
    barrier.newLayout = to;
    barrier.srcQueueFamilyIndex = barrier.dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED;
    barrier.image = image_;
    barrier.subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, shape_.levels, 0, shape_.layers};
    vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, 0, 0,
                         nullptr, 0, nullptr, 1, &barrier);
  }

  void release() noexcept {
    for (const VkImageView view : views_) {
      vkDestroyImageView(device_->handle(), view, nullptr);
    }
    vkDestroyImage(device_->handle(), image_, nullptr);
    vkFreeMemory(device_->handle(), memory_, nullptr);
  }

  const apps::Device* device_;
  ImageShape shape_;
  VkImage image_ = VK_NULL_HANDLE;
  VkDeviceMemory memory_ = VK_NULL_HANDLE;
  std::vector<VkImageView> views_;
};

}  // namespace rayreplay::test
