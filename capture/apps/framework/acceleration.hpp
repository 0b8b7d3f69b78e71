// Acceleration structures: all bottom-level ones in one buffer, and the top-level one over them.
//
// Contract: `BottomLevels` builds every structure in one command (scratch memory is shared out, and builds go in
// several rounds when it would exceed 256 MiB), and with `compact` copies them into a buffer of the size they need.
// Geometry arrays are read during construction only. `TopLevel` is built with ALLOW_UPDATE when asked; `update`
// refits it to moved instances (same number, same structures) inside a command buffer, between barriers of its own.
// Both must go before the Device. Errors: those of result.hpp.
#pragma once

#include <cstdint>
#include <vector>

#include "capture/apps/framework/buffer.hpp"
#include "capture/apps/framework/device.hpp"

namespace rayreplay::apps {

/// A bottom-level structure to be built: geometries with one range each.
struct BottomLevelInput {
  std::vector<VkAccelerationStructureGeometryKHR> geometries;
  std::vector<VkAccelerationStructureBuildRangeInfoKHR> ranges;
};

/// Boxes in an array of VkAabbPositionsKHR.
[[nodiscard]] VkAccelerationStructureGeometryKHR box_geometry(VkDeviceAddress boxes, bool opaque);

inline constexpr VkBufferUsageFlags kBuildInputUsage =
    VK_BUFFER_USAGE_ACCELERATION_STRUCTURE_BUILD_INPUT_READ_ONLY_BIT_KHR | VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT;

class BottomLevels {
 public:
  BottomLevels(const Device& device, const std::vector<BottomLevelInput>& inputs, bool compact);
  ~BottomLevels();
  BottomLevels(const BottomLevels&) = delete;
  BottomLevels& operator=(const BottomLevels&) = delete;

  /// What an instance refers to.
  [[nodiscard]] VkDeviceAddress address(std::size_t index) const;
  [[nodiscard]] VkDeviceSize bytes() const {
    return storage_.size();
  }

 private:
  void build(const std::vector<BottomLevelInput>& inputs, VkBuildAccelerationStructureFlagsKHR flags);
  void compact();
  void release() noexcept;

  const Device* device_;
  Buffer storage_;
  std::vector<VkAccelerationStructureKHR> structures_;
};

class TopLevel {
 public:
  TopLevel(const Device& device, const std::vector<VkAccelerationStructureInstanceKHR>& instances, bool updatable);
  ~TopLevel();
  TopLevel(const TopLevel&) = delete;
  TopLevel& operator=(const TopLevel&) = delete;

  [[nodiscard]] VkAccelerationStructureKHR handle() const {
    return structure_;
  }
  /// The previous frame must have finished: instances are written by the host.
  void update(VkCommandBuffer commands, const std::vector<VkAccelerationStructureInstanceKHR>& instances);

 private:
  void create(const std::vector<VkAccelerationStructureInstanceKHR>& instances);
  void record_build(VkCommandBuffer commands, VkBuildAccelerationStructureModeKHR mode);

  const Device* device_;
  std::uint32_t count_;
  VkBuildAccelerationStructureFlagsKHR flags_;
  Buffer instances_;
  Buffer storage_;
  Buffer scratch_;
  VkAccelerationStructureKHR structure_ = VK_NULL_HANDLE;
};

}  // namespace rayreplay::apps
