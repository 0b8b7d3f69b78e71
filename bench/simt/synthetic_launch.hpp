// Launches made up in memory, of a given number of ray events, for measuring the replayer.
//
// Contract: only what the replayer reads is filled in (size, event offsets, kind and shader columns). The same seed
// gives the same launch. Threads come in rows of 256.
#pragma once

#include <cstdint>
#include <vector>

#include "capture/trace/trace.hpp"
#include "scheduler-models/warp_assignment.hpp"

namespace rayreplay::bench {

enum class Workload : std::uint8_t {
  Coherent,   ///< all threads do the same: 40 events on 5 shaders
  Divergent,  ///< every thread its own random rays: 20 to 60 events on 8 shaders
  Weekend,    ///< paths of up to 16 bounces, 6 samples, one shader a stage; threads beside each other see like things
};

[[nodiscard]] const char* to_string(Workload workload);  ///< "coherent", …

struct SyntheticLaunch {
  std::vector<trace::Shader> shaders;
  trace::Launch launch;
};

[[nodiscard]] SyntheticLaunch make_launch(Workload workload, std::uint64_t events, std::uint64_t seed);

/// Warps of 8×4 threads (any power-of-two size: as square as can be) in row-major order, or threads in random places.
[[nodiscard]] scheduler::WarpAssignment make_assignment(trace::LaunchSize size, std::uint32_t warp_size, bool shuffled,
                                                        std::uint64_t seed);

}  // namespace rayreplay::bench
