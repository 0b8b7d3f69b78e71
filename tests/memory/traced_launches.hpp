// For tests of launch sources: captured and traced launches, and places for their threads.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "capture/trace/reader.hpp"
#include "scheduler-models/warp_assignment.hpp"
#include "tests/reference/support.hpp"

namespace rayreplay::test {

inline trace::Trace captured(const std::string& name) {
  return trace::load(RAYREPLAY_SOURCE_DIR "/tests/data/h200/" + name + ".rrt");
}

inline trace::Trace traced(std::uint64_t seed) {
  reference::TracerOptions options = small_options();
  options.seed = seed;
  return traced(mixed_scene(seed), options);
}

/// Threads in their order, but every fifth warp has holes and every warp starts with another one's lane order.
inline std::vector<std::uint32_t> some_places(const trace::Launch& launch, std::uint32_t warp_size) {
  std::vector<std::uint32_t> places;
  std::uint32_t next = 0;
  const auto threads = static_cast<std::uint32_t>(launch.data.threads());
  while (next < threads) {
    for (std::uint32_t lane = 0; lane < warp_size; ++lane) {
      const bool hole = places.size() / warp_size % 5 == 2 && lane % 3 == 1;
      places.push_back(hole || next >= threads ? scheduler::kNoThread : next++);
    }
  }
  return places;
}

}  // namespace rayreplay::test
