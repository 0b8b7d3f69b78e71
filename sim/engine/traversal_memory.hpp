// What a batch of rays takes while it is traversed, from some of them.
//
// Contract: rays of deep or overlapping scenes make a hundred times as many accesses as those of common ones, and
// nobody knows before they are traced. `batch_bytes` traces the rays of every so many-th thread, one ray of a hundred
// and about 256 at most, through the structure, and scales what they made to the largest batch of the launch.
// Deterministic. Errors: those of traversals.
#pragma once

#include <cstdint>

#include "bvh/bvh.hpp"
#include "capture/trace/trace.hpp"

namespace rayreplay::experiment {

/// Of a ray beside its accesses: itself, its hits and counters as recorded and as traced.
inline constexpr std::uint64_t kBytesPerRayTraversed = 512;
/// In the log by rays, and in that by warps, which is there twice at the moment it is put together.
inline constexpr std::uint64_t kBytesPerAccessTraversed = 80;

[[nodiscard]] std::uint64_t batch_bytes(const trace::Launch& launch, const bvh::Bvh& structure);

}  // namespace rayreplay::experiment
