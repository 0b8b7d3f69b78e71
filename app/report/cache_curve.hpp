// Miss-ratio curves of a cache result's levels.
//
// Contract: of fully associative LRU caches, from the level's reuse distances, summed over its caches. With an engine
// that samples, the sample is adjusted to the size it should have and has a standard error, which is of the sample
// alone (sim/memory/reuse/sample_error.hpp); exact ones have the error 0. Empty without distances, or where no access
// was sampled.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "sim/caching/cache.hpp"
#include "sim/memory/reuse/sample_error.hpp"

namespace rayreplay::report {

/// Whether the reuse distances are of a sample of the lines.
[[nodiscard]] bool is_sampled(const experiment::CacheResult& result);

/// The level's distances, adjusted where they are a sample's.
[[nodiscard]] memory::ReuseHistogram adjusted_distances(const experiment::CacheResult& result, std::size_t level);

/// At sizes where it changes, `points` at most. `error`: −1 where it is not known.
[[nodiscard]] std::vector<memory::SampledPoint> level_curve(const experiment::CacheResult& result, std::size_t level,
                                                            std::size_t points);

/// At the level's own size.
[[nodiscard]] std::optional<memory::SampledPoint> curve_at_size(const experiment::CacheResult& result,
                                                                std::size_t level);

/// Whether a sample can tell a cache of so many lines from smaller ones: from 10 / rate lines on.
[[nodiscard]] bool is_resolved(const experiment::CacheResult& result, std::uint64_t lines);

/// "L1 48.21 ± 0.31 %, L2 5.30 ± 0.40 %" at the levels' own sizes; "" of exact engines, and without distances.
[[nodiscard]] std::string sampled_sizes_text(const experiment::CacheResult& result);

}  // namespace rayreplay::report
