// An instance of the trace's scene as Vulkan wants it.
#pragma once

#include <cstdint>

#include <vulkan/vulkan.h>

#include "capture/trace/trace.hpp"

namespace rayreplay::apps {

/// Transform, mask and flags are those of `instance`.
[[nodiscard]] VkAccelerationStructureInstanceKHR make_instance(const trace::Instance& instance,
                                                               VkDeviceAddress structure, std::uint32_t custom_index,
                                                               std::uint32_t hit_group_offset);

}  // namespace rayreplay::apps
