// Miss-ratio curves of a cache result's levels.
//
// Contract: curves of fully associative LRU caches, from the level's reuse distances, summed over its caches. With a
// sampling engine, the sample is adjusted to its expected size, and the standard error is that of the sampling
// (sim/memory/reuse/sample_error.hpp); exact engines have error 0. Empty without distances, or without a sampled
// access.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "sim/caching/cache.hpp"
#include "sim/memory/reuse/sample_error.hpp"

namespace rayreplay::report {

/// True if the reuse distances come from a sample of the lines.
[[nodiscard]] bool is_sampled(const experiment::CacheResult& result);

/// The level's distances, adjusted if sampled.
[[nodiscard]] memory::ReuseHistogram adjusted_distances(const experiment::CacheResult& result, std::size_t level);

/// At sizes where the curve changes, at most `points`. `error`: −1 if unknown.
[[nodiscard]] std::vector<memory::SampledPoint> level_curve(const experiment::CacheResult& result, std::size_t level,
                                                            std::size_t points);

/// At the level's own size.
[[nodiscard]] std::optional<memory::SampledPoint> curve_at_size(const experiment::CacheResult& result,
                                                                std::size_t level);

/// True if a sample resolves caches of that many lines: from 10 / rate lines on.
[[nodiscard]] bool is_resolved(const experiment::CacheResult& result, std::uint64_t lines);

/// "L1 48.21 ± 0.31 %, L2 5.30 ± 0.40 %" at the levels' own sizes; "" for exact engines, and without distances.
[[nodiscard]] std::string sampled_sizes_text(const experiment::CacheResult& result);

}  // namespace rayreplay::report
