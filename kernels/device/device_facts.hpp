// Properties of a physical device that the kernels need. Internal to this folder.
#pragma once

#include <optional>

#include "kernels/device/device_list.hpp"
#include "kernels/device/vulkan.hpp"

namespace rayreplay::kernels {

struct DeviceFacts {
  DeviceInfo info;
  std::optional<std::uint32_t> compute_family;
  /// A copy-only queue family, which runs in parallel to the compute queue.
  std::optional<std::uint32_t> transfer_family;
  bool has_subgroup_size_control = false;
  bool has_memory_budget = false;
  bool has_timestamps = false;
  double timestamp_ns = 0;
  std::uint32_t most_groups = 0;
  std::array<std::uint8_t, VK_UUID_SIZE> cache_uuid{};
};

[[nodiscard]] DeviceFacts facts_of(const vk::raii::PhysicalDevice& physical, std::uint32_t index);

}  // namespace rayreplay::kernels
