// Whether tests can run shaders with group operations of the core (no extension) in many blocks.
#pragma once

#include "capture/apps/framework/device.hpp"

namespace rayreplay::test {

/// NVIDIA's driver (580 at least): such shaders never end. The capture layer uses VK_EXT_shader_subgroup_ballot there.
inline bool never_ends_group_operations(const apps::Device& device) {
  return device.limits().name.starts_with("NVIDIA");
}

}  // namespace rayreplay::test
