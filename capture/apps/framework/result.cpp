#include "capture/apps/framework/result.hpp"

#include <string>

#include "base/error.hpp"

namespace rayreplay::apps {
namespace {

std::string name_of(VkResult result) {
  switch (result) {
    case VK_ERROR_OUT_OF_HOST_MEMORY:
      return "VK_ERROR_OUT_OF_HOST_MEMORY";
    case VK_ERROR_OUT_OF_DEVICE_MEMORY:
      return "VK_ERROR_OUT_OF_DEVICE_MEMORY";
    case VK_ERROR_INITIALIZATION_FAILED:
      return "VK_ERROR_INITIALIZATION_FAILED";
    case VK_ERROR_DEVICE_LOST:
      return "VK_ERROR_DEVICE_LOST";
    case VK_ERROR_EXTENSION_NOT_PRESENT:
      return "VK_ERROR_EXTENSION_NOT_PRESENT";
    case VK_ERROR_FEATURE_NOT_PRESENT:
      return "VK_ERROR_FEATURE_NOT_PRESENT";
    case VK_ERROR_LAYER_NOT_PRESENT:
      return "VK_ERROR_LAYER_NOT_PRESENT";
    case VK_ERROR_INCOMPATIBLE_DRIVER:
      return "VK_ERROR_INCOMPATIBLE_DRIVER";
    case VK_ERROR_TOO_MANY_OBJECTS:
      return "VK_ERROR_TOO_MANY_OBJECTS";
    default:
      return "VkResult " + std::to_string(static_cast<int>(result));
  }
}

}  // namespace

void require_success(VkResult result, const char* call) {
  switch (result) {
    case VK_SUCCESS:
      return;
    case VK_ERROR_OUT_OF_HOST_MEMORY:
    case VK_ERROR_OUT_OF_DEVICE_MEMORY:
    case VK_ERROR_TOO_MANY_OBJECTS:
      throw Error(ErrorKind::Resource,
                  {"the device is out of memory", call, name_of(result), "", "render a smaller picture or scene"});
    case VK_ERROR_DEVICE_LOST:
      throw Error(ErrorKind::Resource, {"the device was lost", call, name_of(result), "",
                                        "a launch may have run too long: use fewer samples, or a smaller picture"});
    case VK_ERROR_LAYER_NOT_PRESENT:
      throw Error(ErrorKind::Missing, {"a Vulkan layer that the environment asks for is not there", call,
                                       name_of(result), "", "check VK_INSTANCE_LAYERS and VK_LAYER_PATH"});
    default:
      throw Error(ErrorKind::Internal, {"a Vulkan call failed", call, name_of(result), "VK_SUCCESS", ""});
  }
}

}  // namespace rayreplay::apps
