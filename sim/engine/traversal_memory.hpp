// Memory of a traversed batch of rays, estimated from a sample.
//
// Contract: deep or overlapping scenes make a hundred times as many accesses per ray as common ones. `batch_bytes`
// traces the rays of some threads, evenly spaced over the launch (at least 16; about one ray in 128, at most about
// 256), and scales their bytes to the largest batch of the launch. Deterministic. Errors: those of traversals.
#pragma once

#include <cstdint>

#include "bvh/bvh.hpp"
#include "capture/trace/trace.hpp"

namespace rayreplay::experiment {

/// Per ray, without accesses: the ray, hits and counters, recorded and traced.
inline constexpr std::uint64_t kBytesPerRayTraversed = 512;
/// Per access: one entry in the log by rays, and one in the log by warps, which exists twice while it is built.
inline constexpr std::uint64_t kBytesPerAccessTraversed = 80;

[[nodiscard]] std::uint64_t batch_bytes(const trace::Launch& launch, const bvh::Bvh& structure);

}  // namespace rayreplay::experiment
