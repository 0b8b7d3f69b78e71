// Threads in the order of how many rays they traced (MODELS.md §6, "numrays").
//
// Contract: ascending, stable. O(threads).
#pragma once

#include "capture/trace/trace.hpp"
#include "scheduler-models/sort_threads.hpp"

namespace rayreplay::scheduler {

inline void sort_by_ray_count(const trace::Launch& launch, ThreadList& threads) {
  const auto& offset = launch.data.ray_offset;
  trace::Column<std::uint64_t> rays(launch.data.threads());
  for (std::size_t thread = 0; thread < rays.size(); ++thread) {
    rays[thread] = offset[thread + 1] - offset[thread];
  }
  sort_by_key(threads, rays);
}

}  // namespace rayreplay::scheduler
