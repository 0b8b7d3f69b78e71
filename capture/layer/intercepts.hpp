// The functions of a device that the layer sees.
#pragma once

#include <string_view>

#include <vulkan/vulkan.h>

namespace rayreplay::layer {

/// The layer's function of this name, geometry's included; null if it does not see it.
[[nodiscard]] PFN_vkVoidFunction find_intercept(std::string_view name);

}  // namespace rayreplay::layer
