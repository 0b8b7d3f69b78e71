// The one Vulkan instance of the process. Internal to this folder.
//
// Contract: made at the first call and kept. Throws Missing when there is no Vulkan loader or it refuses an instance.
#pragma once

#include "kernels/device/vulkan.hpp"

namespace rayreplay::kernels {

[[nodiscard]] const vk::raii::Instance& vulkan_instance();
/// In the loader's order.
[[nodiscard]] std::vector<vk::raii::PhysicalDevice> physical_devices();

}  // namespace rayreplay::kernels
