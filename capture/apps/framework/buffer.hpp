// Buffers and the picture's image: memory on the device, filled and read through staging buffers.
//
// Contract: a Buffer owns its memory (one allocation each; programs here make a few dozen) and may be moved. Device
// buffers have an address. `upload` and `download` go through host-visible memory and wait; reads come from cached host
// memory, because reading uncached memory is 1000 times slower on real GPUs. Errors: those of result.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "capture/apps/framework/device.hpp"

namespace rayreplay::apps {

/// The next multiple of the alignment.
[[nodiscard]] constexpr VkDeviceSize align(VkDeviceSize value, VkDeviceSize alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

enum class MemoryKind : std::uint8_t { Device, Upload, Readback };

class Buffer {
 public:
  Buffer() = default;
  Buffer(const Device& device, VkDeviceSize size, VkBufferUsageFlags usage, MemoryKind kind = MemoryKind::Device);
  ~Buffer();
  Buffer(Buffer&& other) noexcept;
  Buffer& operator=(Buffer&& other) noexcept;
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  [[nodiscard]] VkBuffer handle() const {
    return buffer_;
  }
  [[nodiscard]] VkDeviceSize size() const {
    return size_;
  }
  /// Only with usage SHADER_DEVICE_ADDRESS.
  [[nodiscard]] VkDeviceAddress address() const {
    return address_;
  }
  /// Host-visible kinds only; all of it, for as long as the buffer lives.
  [[nodiscard]] std::byte* mapped() const {
    return mapped_;
  }

 private:
  void release() noexcept;

  const Device* device_ = nullptr;
  VkBuffer buffer_ = VK_NULL_HANDLE;
  VkDeviceMemory memory_ = VK_NULL_HANDLE;
  VkDeviceSize size_ = 0;
  VkDeviceAddress address_ = 0;
  std::byte* mapped_ = nullptr;
};

/// A device buffer with an address that holds `bytes` (at least 16, so that an empty array has a buffer too).
[[nodiscard]] Buffer upload(const Device& device, std::span<const std::byte> bytes, VkBufferUsageFlags usage);

template <class T>
[[nodiscard]] Buffer upload(const Device& device, const std::vector<T>& values, VkBufferUsageFlags usage) {
  return upload(device, std::as_bytes(std::span(values)), usage);
}

/// Linear RGBA, 32-bit floats, in layout GENERAL: a ray-generation shader writes it.
class StorageImage {
 public:
  StorageImage(const Device& device, std::uint32_t width, std::uint32_t height);
  ~StorageImage();
  StorageImage(const StorageImage&) = delete;
  StorageImage& operator=(const StorageImage&) = delete;

  [[nodiscard]] VkImageView view() const {
    return view_;
  }
  /// Four floats a pixel, row 0 first.
  [[nodiscard]] std::vector<float> download() const;

 private:
  void create();
  void release() noexcept;

  const Device* device_;
  std::uint32_t width_;
  std::uint32_t height_;
  VkImage image_ = VK_NULL_HANDLE;
  VkDeviceMemory memory_ = VK_NULL_HANDLE;
  VkImageView view_ = VK_NULL_HANDLE;
};

}  // namespace rayreplay::apps
