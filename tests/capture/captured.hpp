// A program run under the capture layer, and what the trace then says of each ray.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "capture/trace/trace.hpp"
#include "tests/apps/run_program.hpp"

namespace rayreplay::test {

struct Captured {
  Pixels picture;
  trace::Trace trace;
};

/// Runs a program of capture/apps on lavapipe with the layer, ingests the spool and loads the trace, which checks it
/// against every rule of the format. Throws if anything fails, or if there is not exactly one trace.
Captured capture(const std::string& program, const std::vector<std::string>& arguments,
                 const Environment& environment = {});

/// One ray of a launch with what became of it. Rows point into launch.data.events.
struct RayStory {
  std::uint64_t ray = 0;  ///< row of launch.data.rays
  bool occlusion = false;
  std::uint32_t closest_hits = 0;
  std::uint32_t misses = 0;
  std::uint64_t end = 0;                        ///< row of the closest hit or miss, if there is one
  std::vector<std::uint64_t> during_traversal;  ///< rows of intersection, report and any-hit events, in order
};

/// In order of rays.
std::vector<RayStory> tell_rays(const trace::Launch& launch);

}  // namespace rayreplay::test
