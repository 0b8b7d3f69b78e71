// Groups in which a device runs threads, for tests.
#pragma once

#include "capture/apps/framework/device.hpp"

namespace rayreplay::test {

/// Whether probes vote by VK_EXT_shader_subgroup_ballot: where it is wanted, and on NVIDIA's driver (580 at least),
/// where shaders that vote by the core's group operations in many blocks never end. The capture layer uses the
/// extension there.
inline bool votes_by_extension(const apps::Device& device, bool wanted) {
  return wanted || device.limits().name.starts_with("NVIDIA");
}

/// Whether threads of a group lie in one row of the launch, and stay together until their branches differ. NVIDIA's
/// groups are blocks of 8 by 4 threads, and may part and meet elsewhere than the shader's blocks.
inline bool groups_are_rows(const apps::Device& device) {
  return !device.limits().name.starts_with("NVIDIA");
}

}  // namespace rayreplay::test
