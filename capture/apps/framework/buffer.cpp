#include "capture/apps/framework/buffer.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "capture/apps/framework/result.hpp"

namespace rayreplay::apps {
namespace {

struct MemoryFlags {
  VkMemoryPropertyFlags required = 0;
  VkMemoryPropertyFlags preferred = 0;
};

MemoryFlags flags_of(MemoryKind kind) {
  constexpr VkMemoryPropertyFlags kHost = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
  switch (kind) {
    case MemoryKind::Device:
      return {VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT, 0};
    case MemoryKind::Upload:
      return {kHost, 0};
    case MemoryKind::Readback:
      return {kHost, VK_MEMORY_PROPERTY_HOST_CACHED_BIT};
  }
  return {};
}

VkDeviceMemory allocate(const Device& device, const VkMemoryRequirements& needs, MemoryFlags flags, bool address) {
  VkMemoryAllocateFlagsInfo address_info{};
  address_info.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO;
  address_info.flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT;
  VkMemoryAllocateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO;
  info.pNext = address ? &address_info : nullptr;
  info.allocationSize = needs.size;
  info.memoryTypeIndex = device.memory_type(needs.memoryTypeBits, flags.required, flags.preferred);
  VkDeviceMemory memory = VK_NULL_HANDLE;
  require_success(vkAllocateMemory(device.handle(), &info, nullptr, &memory), "vkAllocateMemory");
  return memory;
}

}  // namespace

Buffer::Buffer(const Device& device, VkDeviceSize size, VkBufferUsageFlags usage, MemoryKind kind)
    : device_(&device), size_(size) {
  try {
    VkBufferCreateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO;
    info.size = size;
    info.usage = usage;
    info.sharingMode = VK_SHARING_MODE_EXCLUSIVE;
    require_success(vkCreateBuffer(device.handle(), &info, nullptr, &buffer_), "vkCreateBuffer");
    VkMemoryRequirements needs{};
    vkGetBufferMemoryRequirements(device.handle(), buffer_, &needs);
    const bool has_address = (usage & VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT) != 0;
    memory_ = allocate(device, needs, flags_of(kind), has_address);
    require_success(vkBindBufferMemory(device.handle(), buffer_, memory_, 0), "vkBindBufferMemory");
    if (has_address) {
      VkBufferDeviceAddressInfo address{};
      address.sType = VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO;
      address.buffer = buffer_;
      address_ = vkGetBufferDeviceAddress(device.handle(), &address);
    }
    if (kind != MemoryKind::Device) {
      void* pointer = nullptr;
      require_success(vkMapMemory(device.handle(), memory_, 0, VK_WHOLE_SIZE, 0, &pointer), "vkMapMemory");
      mapped_ = static_cast<std::byte*>(pointer);
    }
  } catch (...) {
    release();
    throw;
  }
}

Buffer::~Buffer() {
  release();
}

Buffer::Buffer(Buffer&& other) noexcept {
  *this = std::move(other);
}

Buffer& Buffer::operator=(Buffer&& other) noexcept {
  std::swap(device_, other.device_);
  std::swap(buffer_, other.buffer_);
  std::swap(memory_, other.memory_);
  std::swap(size_, other.size_);
  std::swap(address_, other.address_);
  std::swap(mapped_, other.mapped_);
  return *this;
}

void Buffer::release() noexcept {
  if (device_ != nullptr) {
    vkDestroyBuffer(device_->handle(), buffer_, nullptr);
    vkFreeMemory(device_->handle(), memory_, nullptr);
  }
}

Buffer upload(const Device& device, std::span<const std::byte> bytes, VkBufferUsageFlags usage) {
  const VkDeviceSize size = std::max<VkDeviceSize>(bytes.size(), 16);
  Buffer buffer(device, size, usage | VK_BUFFER_USAGE_TRANSFER_DST_BIT | VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT);
  if (!bytes.empty()) {
    const Buffer staging(device, bytes.size(), VK_BUFFER_USAGE_TRANSFER_SRC_BIT, MemoryKind::Upload);
    std::memcpy(staging.mapped(), bytes.data(), bytes.size());
    device.submit([&](VkCommandBuffer commands) {
      const VkBufferCopy region{0, 0, bytes.size()};
      vkCmdCopyBuffer(commands, staging.handle(), buffer.handle(), 1, &region);
      // For whatever later submissions read it with.
      VkMemoryBarrier copied{};
      copied.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER;
      copied.srcAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT;
      copied.dstAccessMask = VK_ACCESS_MEMORY_READ_BIT;
      vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, 0, 1, &copied,
                           0, nullptr, 0, nullptr);
    });
  }
  return buffer;
}

StorageImage::StorageImage(const Device& device, std::uint32_t width, std::uint32_t height)
    : device_(&device), width_(width), height_(height) {
  try {
    create();
  } catch (...) {
    release();
    throw;
  }
}

StorageImage::~StorageImage() {
  release();
}

void StorageImage::create() {
  VkImageCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO;
  info.imageType = VK_IMAGE_TYPE_2D;
  info.format = VK_FORMAT_R32G32B32A32_SFLOAT;
  info.extent = {width_, height_, 1};
  info.mipLevels = 1;
  info.arrayLayers = 1;
  info.samples = VK_SAMPLE_COUNT_1_BIT;
  info.tiling = VK_IMAGE_TILING_OPTIMAL;
  info.usage = VK_IMAGE_USAGE_STORAGE_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT;
  require_success(vkCreateImage(device_->handle(), &info, nullptr, &image_), "vkCreateImage");
  VkMemoryRequirements needs{};
  vkGetImageMemoryRequirements(device_->handle(), image_, &needs);
  memory_ = allocate(*device_, needs, flags_of(MemoryKind::Device), false);
  require_success(vkBindImageMemory(device_->handle(), image_, memory_, 0), "vkBindImageMemory");

  VkImageViewCreateInfo view{};
  view.sType = VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO;
  view.image = image_;
  view.viewType = VK_IMAGE_VIEW_TYPE_2D;
  view.format = info.format;
  view.subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1};
  require_success(vkCreateImageView(device_->handle(), &view, nullptr, &view_), "vkCreateImageView");

  VkImageMemoryBarrier barrier{};
  barrier.sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER;
  barrier.dstAccessMask = VK_ACCESS_SHADER_WRITE_BIT;
  barrier.oldLayout = VK_IMAGE_LAYOUT_UNDEFINED;
  barrier.newLayout = VK_IMAGE_LAYOUT_GENERAL;
  barrier.srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED;
  barrier.dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED;
  barrier.image = image_;
  barrier.subresourceRange = view.subresourceRange;
  device_->submit([&](VkCommandBuffer commands) {
    vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT, VK_PIPELINE_STAGE_RAY_TRACING_SHADER_BIT_KHR, 0,
                         0, nullptr, 0, nullptr, 1, &barrier);
  });
}

void StorageImage::release() noexcept {
  vkDestroyImageView(device_->handle(), view_, nullptr);
  vkDestroyImage(device_->handle(), image_, nullptr);
  vkFreeMemory(device_->handle(), memory_, nullptr);
}

std::vector<float> StorageImage::download() const {
  std::vector<float> pixels(std::size_t{width_} * height_ * 4);
  const Buffer host(*device_, pixels.size() * sizeof(float), VK_BUFFER_USAGE_TRANSFER_DST_BIT, MemoryKind::Readback);
  device_->submit([&](VkCommandBuffer commands) {
    VkMemoryBarrier written{};
    written.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER;
    written.srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT;
    written.dstAccessMask = VK_ACCESS_TRANSFER_READ_BIT;
    vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_RAY_TRACING_SHADER_BIT_KHR, VK_PIPELINE_STAGE_TRANSFER_BIT, 0, 1,
                         &written, 0, nullptr, 0, nullptr);
    VkBufferImageCopy region{};
    region.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1};
    region.imageExtent = {width_, height_, 1};
    vkCmdCopyImageToBuffer(commands, image_, VK_IMAGE_LAYOUT_GENERAL, host.handle(), 1, &region);
    VkMemoryBarrier copied{};
    copied.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER;
    copied.srcAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT;
    copied.dstAccessMask = VK_ACCESS_HOST_READ_BIT;
    vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_PIPELINE_STAGE_HOST_BIT, 0, 1, &copied, 0,
                         nullptr, 0, nullptr);
  });
  std::memcpy(pixels.data(), host.mapped(), pixels.size() * sizeof(float));
  return pixels;
}

}  // namespace rayreplay::apps
