// VkResult as rayreplay::Error.
//
// Contract: `require_success` returns on VK_SUCCESS and throws otherwise: Resource when memory or the device is the
// matter, Internal for anything else, naming the call and the code by name.
#pragma once

#include <vulkan/vulkan.h>

namespace rayreplay::apps {

void require_success(VkResult result, const char* call);

}  // namespace rayreplay::apps
