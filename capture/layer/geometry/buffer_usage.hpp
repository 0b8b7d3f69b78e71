// Extra usage flags for buffers that the capture will read.
//
// Contract: `AmendedBuffer` copies the changed parts of an application's VkBufferCreateInfo; info() is valid as long as
// both live. Buffers with a device address, build inputs, shader binding tables and indirect buffers get TRANSFER_SRC,
// in VkBufferUsageFlags2CreateInfo (VK_KHR_maintenance5) where the chain has one, since it replaces the old field. The
// structures before it in the chain must be known to be copied; otherwise nothing is changed and readable() says so.
// The application's memory is never written.
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
  /// Effective usage flags (low 32 bits), with the additions.
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
