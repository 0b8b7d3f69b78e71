// Which physical devices there are, and which of them can run these programs.
#pragma once

#include <string>
#include <vector>

#include <vulkan/vulkan.h>

namespace rayreplay::apps {

struct DeviceCandidate {
  VkPhysicalDevice device = VK_NULL_HANDLE;
  VkPhysicalDeviceProperties properties{};
  std::vector<std::string> extensions;
  bool traces_rays = false;
  bool is_gpu = false;
  bool float64 = false;

  [[nodiscard]] bool has(const char* extension) const;
};

/// Extensions that every program here needs.
[[nodiscard]] const std::vector<const char*>& required_extensions();

[[nodiscard]] VkInstance create_instance();
[[nodiscard]] std::vector<DeviceCandidate> find_candidates(VkInstance instance);
/// `request` as in DeviceRequest::device.
[[nodiscard]] const DeviceCandidate& choose(const std::vector<DeviceCandidate>& candidates, const std::string& request);
[[nodiscard]] std::string describe(const std::vector<DeviceCandidate>& candidates, std::size_t index);

}  // namespace rayreplay::apps
