// The device features of instrumented shaders, added to the application's request.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <vulkan/vulkan.h>

#include "capture/instrument/ser/insert.hpp"
#include "capture/layer/device/device.hpp"
#include "capture/layer/device/feature_chain.hpp"

namespace rayreplay::layer {

/// The application's create info with our additions. `info` points into this object and into the application's memory.
struct DeviceRequest {
  VkDeviceCreateInfo info{};
  bool traces = false;   ///< the application enables ray-tracing pipelines
  bool counts = false;   ///< compute or graphics shaders are to be counted
  bool queries = false;  ///< and ray queries
  bool enough = false;   ///< all that instrumented shaders need is on
  std::string lacks;     ///< if not enough: what
  bool clock = false, sm = false, ballot = false;
  /// Form of the reorder calls that insert_ser inserts; none: not asked for, or the device has no extension.
  std::optional<instrument::HitObjectForm> reorder;
  bool float64 = false;     ///< and doubles, where its hint needs them
  bool statistics = false;  ///< of pipelines: VK_KHR_pipeline_executable_properties
  bool swapchain = false, frame_boundary = false;
  bool vertex_stores = false, fragment_stores = false;  ///< vertex and fragment shaders may count

  /// Whether the layer has anything to do on this device.
  [[nodiscard]] bool observed() const {
    return traces || counts;
  }

  std::unique_ptr<FeatureChain> chain;
  VkPhysicalDeviceFeatures features{};
  std::vector<const char*> extensions;
};

/// Never writes into the application's memory. api_version: the lower of the instance's and the device's.
[[nodiscard]] std::unique_ptr<DeviceRequest> extend_request(const Instance& instance, VkPhysicalDevice physical,
                                                            const VkDeviceCreateInfo& asked);

}  // namespace rayreplay::layer
