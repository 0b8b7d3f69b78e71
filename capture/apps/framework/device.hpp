// The Vulkan device that an application runs on, with one queue.
//
// Contract: `Device` picks a physical device, makes a logical one with acceleration structures, ray-tracing pipelines
// and buffer device addresses (Vulkan 1.2), and loads their functions. Without a request the first GPU that has them is
// taken, else a software device (lavapipe). Not thread-safe: one queue, one command pool. Errors: Missing when no
// device, or not the one asked for, can trace rays; Usage for a device that is not there; those of result.hpp.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <vulkan/vulkan.h>

namespace rayreplay::apps {

struct DeviceRequest {
  std::string device;    ///< number in `list_devices`, or part of a name; empty: chosen
  bool reorder = false;  ///< VK_NV_ray_tracing_invocation_reorder
  bool float64 = false;  ///< double precision in shaders
  bool images = false;   ///< arrays of cubes, and indices into arrays of images that differ between threads
};

/// Functions of extensions, which the loader does not export.
struct DeviceFunctions {
  PFN_vkCreateAccelerationStructureKHR create_acceleration_structure = nullptr;
  PFN_vkDestroyAccelerationStructureKHR destroy_acceleration_structure = nullptr;
  PFN_vkGetAccelerationStructureBuildSizesKHR build_sizes = nullptr;
  PFN_vkGetAccelerationStructureDeviceAddressKHR acceleration_structure_address = nullptr;
  PFN_vkCmdBuildAccelerationStructuresKHR cmd_build = nullptr;
  PFN_vkCmdCopyAccelerationStructureKHR cmd_copy = nullptr;
  PFN_vkCmdWriteAccelerationStructuresPropertiesKHR cmd_write_properties = nullptr;
  PFN_vkCreateRayTracingPipelinesKHR create_pipelines = nullptr;
  PFN_vkGetRayTracingShaderGroupHandlesKHR group_handles = nullptr;
  PFN_vkCmdTraceRaysKHR cmd_trace_rays = nullptr;
};

/// The device's limits that programs need.
struct DeviceLimits {
  std::string name;
  std::uint32_t handle_size = 0;
  std::uint32_t handle_alignment = 0;
  std::uint32_t base_alignment = 0;
  std::uint32_t max_record_stride = 0;
  std::uint32_t max_recursion = 0;
  std::uint32_t max_invocations = 0;
  std::uint32_t max_image_side = 0;
  std::uint32_t scratch_alignment = 0;
  float timestamp_ns = 0;  ///< a tick; 0: the queue has no timestamps
};

class Device {
 public:
  explicit Device(const DeviceRequest& request);
  ~Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  [[nodiscard]] VkDevice handle() const {
    return device_;
  }
  [[nodiscard]] const DeviceFunctions& functions() const {
    return functions_;
  }
  [[nodiscard]] const DeviceLimits& limits() const {
    return limits_;
  }
  /// The first memory type in `type_bits` that has `required`, preferably with `preferred`.
  [[nodiscard]] std::uint32_t memory_type(std::uint32_t type_bits, VkMemoryPropertyFlags required,
                                          VkMemoryPropertyFlags preferred) const;
  /// Records a command buffer, submits it and waits until it has run.
  void submit(const std::function<void(VkCommandBuffer)>& record) const;

 private:
  void create(const DeviceRequest& request);
  void destroy() noexcept;

  VkInstance instance_ = VK_NULL_HANDLE;
  VkPhysicalDevice physical_ = VK_NULL_HANDLE;
  VkDevice device_ = VK_NULL_HANDLE;
  VkQueue queue_ = VK_NULL_HANDLE;
  VkCommandPool pool_ = VK_NULL_HANDLE;
  VkPhysicalDeviceMemoryProperties memory_{};
  DeviceFunctions functions_;
  DeviceLimits limits_;
};

/// One line a device: "0: NVIDIA H200 (GPU, ray tracing)".
[[nodiscard]] std::vector<std::string> list_devices();

}  // namespace rayreplay::apps
