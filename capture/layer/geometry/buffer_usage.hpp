// Buffers that the capture will read get the usage that lets it.
//
// Contract: `AmendedBuffer` copies what must change of an application's VkBufferCreateInfo; info() is valid as long as
// both live. Buffers with a device address, build inputs, shader binding tables and indirect buffers get TRANSFER_SRC,
// in VkBufferUsageFlags2CreateInfo (VK_KHR_maintenance5) where the chain has one, for it then replaces the old field.
// The chain before such a structure must be copied, so its structures must be known; if one is not, nothing is changed
// and readable() says so. The application's memory is never written.
#pragma once

#include <vulkan/vulkan.h>

#include <cstdint>
#include <memory>
#include <vector>

namespace rayreplay::layer::geometry {

class AmendedBuffer {
 public:
  explicit AmendedBuffer(const VkBufferCreateInfo& info);

  [[nodiscard]] const VkBufferCreateInfo& info() const {
    return info_;
  }
  /// Effective usage flags (the low 32 bits), as they are now.
  [[nodiscard]] VkBufferUsageFlags usage() const {
    return usage_;
  }
  [[nodiscard]] bool readable() const {
    return (usage_ & VK_BUFFER_USAGE_TRANSFER_SRC_BIT) != 0;
  }

 private:
  VkBufferCreateInfo info_;
  VkBufferUsageFlags usage_ = 0;
  std::vector<std::unique_ptr<std::uint64_t[]>> copies_;  ///< of the chain up to the changed structure
};

}  // namespace rayreplay::layer::geometry
