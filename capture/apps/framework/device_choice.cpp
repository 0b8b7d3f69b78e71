#include "capture/apps/framework/device_choice.hpp"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "base/error.hpp"
#include "capture/apps/framework/result.hpp"

namespace rayreplay::apps {
namespace {

constexpr const char* kDriverHint =
    "install a Vulkan driver that traces rays (Mesa's lavapipe needs no GPU), or point VK_DRIVER_FILES at one";

DeviceCandidate examine(VkPhysicalDevice device) {
  DeviceCandidate candidate;
  candidate.device = device;
  vkGetPhysicalDeviceProperties(device, &candidate.properties);
  candidate.is_gpu = candidate.properties.deviceType != VK_PHYSICAL_DEVICE_TYPE_CPU;

  std::uint32_t count = 0;
  require_success(vkEnumerateDeviceExtensionProperties(device, nullptr, &count, nullptr),
                  "vkEnumerateDeviceExtensionProperties");
  std::vector<VkExtensionProperties> extensions(count);
  require_success(vkEnumerateDeviceExtensionProperties(device, nullptr, &count, extensions.data()),
                  "vkEnumerateDeviceExtensionProperties");
  for (const VkExtensionProperties& extension : extensions) {
    candidate.extensions.emplace_back(extension.extensionName);
  }

  VkPhysicalDeviceFeatures features{};
  vkGetPhysicalDeviceFeatures(device, &features);
  candidate.float64 = features.shaderFloat64 == VK_TRUE;
  const std::vector<const char*>& needed = required_extensions();
  candidate.traces_rays = candidate.properties.apiVersion >= VK_API_VERSION_1_2 && features.shaderInt64 == VK_TRUE &&
                          std::all_of(needed.begin(), needed.end(), [&](auto name) { return candidate.has(name); });
  return candidate;
}

std::string list_of(const std::vector<DeviceCandidate>& candidates) {
  std::string list;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    list += (i == 0 ? "" : ", ") + describe(candidates, i);
  }
  return list;
}

/// The candidate that `request` names by number or by part of its name.
const DeviceCandidate& find(const std::vector<DeviceCandidate>& candidates, const std::string& request) {
  std::size_t index = 0;
  const auto parsed = std::from_chars(request.data(), request.data() + request.size(), index);
  if (parsed.ec == std::errc() && parsed.ptr == request.data() + request.size()) {
    if (index < candidates.size()) {
      return candidates[index];
    }
  } else {
    for (const DeviceCandidate& candidate : candidates) {
      if (std::string(candidate.properties.deviceName).find(request) != std::string::npos) {
        return candidate;
      }
    }
  }
  throw Error(ErrorKind::Usage, {"there is no such device", "--device", "'" + request + "'",
                                 "a number or part of a name of: " + list_of(candidates), ""});
}

}  // namespace

bool DeviceCandidate::has(const char* extension) const {
  return std::find(extensions.begin(), extensions.end(), extension) != extensions.end();
}

const std::vector<const char*>& required_extensions() {
  static const std::vector<const char*> kExtensions{VK_KHR_ACCELERATION_STRUCTURE_EXTENSION_NAME,
                                                    VK_KHR_RAY_TRACING_PIPELINE_EXTENSION_NAME,
                                                    VK_KHR_DEFERRED_HOST_OPERATIONS_EXTENSION_NAME};
  return kExtensions;
}

VkInstance create_instance() {
  VkApplicationInfo application{};
  application.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO;
  application.pApplicationName = "rayreplay sample";
  application.apiVersion = VK_API_VERSION_1_2;
  VkInstanceCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO;
  info.pApplicationInfo = &application;
  VkInstance instance = VK_NULL_HANDLE;
  const VkResult result = vkCreateInstance(&info, nullptr, &instance);
  if (result == VK_ERROR_INCOMPATIBLE_DRIVER) {
    throw Error(ErrorKind::Missing, {"there is no Vulkan driver", "", "", "", kDriverHint});
  }
  require_success(result, "vkCreateInstance");
  return instance;
}

std::vector<DeviceCandidate> find_candidates(VkInstance instance) {
  std::uint32_t count = 0;
  const VkResult result = vkEnumeratePhysicalDevices(instance, &count, nullptr);
  // Without any driver the loader 1.3.239 makes an instance and fails here.
  if (result == VK_ERROR_INITIALIZATION_FAILED) {
    return {};
  }
  require_success(result, "vkEnumeratePhysicalDevices");
  std::vector<VkPhysicalDevice> devices(count);
  require_success(vkEnumeratePhysicalDevices(instance, &count, devices.data()), "vkEnumeratePhysicalDevices");
  std::vector<DeviceCandidate> candidates;
  for (VkPhysicalDevice device : devices) {
    candidates.push_back(examine(device));
  }
  return candidates;
}

const DeviceCandidate& choose(const std::vector<DeviceCandidate>& candidates, const std::string& request) {
  if (candidates.empty()) {
    throw Error(ErrorKind::Missing, {"there is no Vulkan device", "", "", "", kDriverHint});
  }
  if (!request.empty()) {
    const DeviceCandidate& found = find(candidates, request);
    if (!found.traces_rays) {
      throw Error(ErrorKind::Missing, {"the device has no ray-tracing pipelines", "--device",
                                       found.properties.deviceName, "VK_KHR_ray_tracing_pipeline", kDriverHint});
    }
    return found;
  }
  const auto best = std::find_if(candidates.begin(), candidates.end(),
                                 [](const DeviceCandidate& c) { return c.traces_rays && c.is_gpu; });
  if (best != candidates.end()) {
    return *best;
  }
  const auto any =
      std::find_if(candidates.begin(), candidates.end(), [](const DeviceCandidate& c) { return c.traces_rays; });
  if (any == candidates.end()) {
    throw Error(ErrorKind::Missing, {"no device has ray-tracing pipelines", "", list_of(candidates),
                                     "VK_KHR_ray_tracing_pipeline", kDriverHint});
  }
  return *any;
}

std::string describe(const std::vector<DeviceCandidate>& candidates, std::size_t index) {
  const DeviceCandidate& candidate = candidates.at(index);
  return fmt::format("{}: {} ({}, {})", index, candidate.properties.deviceName, candidate.is_gpu ? "GPU" : "software",
                     candidate.traces_rays ? "traces rays" : "does not trace rays");
}

}  // namespace rayreplay::apps
