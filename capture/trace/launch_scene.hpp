// Whether the rays of a launch can be traced again: the trace holds a scene, and the launch names its top-level
// structure.
#pragma once

#include <string>

#include "capture/trace/trace.hpp"

namespace rayreplay::trace {

[[nodiscard]] inline bool has_scene(const Scene& scene, const Launch& launch) {
  return !scene.instances.empty() && launch.tlas != kNone;
}

/// Throws Missing unless `has_scene`. `where`: "t.rrt:/launch/0", or who asks. `otherwise`: what else the user can do.
void require_scene(const Scene& scene, const Launch& launch, const std::string& where,
                   const std::string& otherwise = "");

}  // namespace rayreplay::trace
