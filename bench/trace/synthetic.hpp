// A synthetic trace of any length, written as it is made: a path tracer over a few hundred procedural spheres.
//
// Per ray about six events: Begin; intersections, of which half report; ClosestHit or Miss. Noisy where real traces are
// noisy (t, directions, origins of secondary rays), constant where they are constant (t_min, flags, cull mask).
#pragma once

#include <cstdint>
#include <filesystem>

namespace rayreplay::bench {

struct SyntheticCounts {
  std::uint64_t events = 0;
  std::uint64_t rays = 0;
  std::uint64_t threads = 0;
  double write_seconds = 0;  ///< spent in the writer
};

/// Writes a trace of about `events` events to `path`, replacing what is there. Memory: one batch of threads; with paths
/// also four bytes a thread. `paths`: each call of a shader and each thread has a path, one of 200 of its shader.
SyntheticCounts write_synthetic(const std::filesystem::path& path, std::uint64_t events, bool paths = false);

}  // namespace rayreplay::bench
