// Miss-ratio curves of sampled streams, with standard errors.
//
// Contract: an `adjusted` histogram of the sample (histogram.hpp) represents the whole stream. Its standard error comes
// from the random parts of the sample's lines (ReuseStack::parts). Each part is a sample of the stream at a lower rate,
// with its own distances. The standard deviation of the parts' curves, divided by the root of their number, estimates
// that of the whole curve (random groups: Wolter, "Introduction to Variance Estimation", 1985); times √(1 − rate),
// because parts exclude each other's lines. The error covers the choice of lines and its effect on distances. With P
// parts the estimate itself has an uncertainty of about 1 / √(2(P − 1)). It is meaningless where the sample cannot
// distinguish sizes: below about 10 / rate lines. Histograms of several stacks with the same seed (an L1 for each SM)
// are summed part by part before the error is computed: their samples have the same lines.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/memory/reuse/histogram.hpp"

namespace rayreplay::memory {

/// Adds part by part; an empty `sum` becomes a copy. Internal if the numbers of parts differ.
void merge_parts(std::vector<ReuseHistogram>& sum, std::span<const ReuseHistogram> more);

/// Standard error of the miss ratio at `lines` lines; −1: unknown (fewer than two parts, or no accesses). `weight`: of
/// the whole sample. O(parts · bins).
[[nodiscard]] double standard_error(std::span<const ReuseHistogram> parts, double weight, std::uint64_t lines);

struct SampledPoint {
  std::uint64_t lines = 0;
  double miss_ratio = 0;
  double error = 0;  ///< standard error; −1: unknown
};
/// The curve of the adjusted sample, at the sizes of miss_ratio_curve.
[[nodiscard]] std::vector<SampledPoint> sampled_miss_ratio_curve(const ReuseHistogram& sample,
                                                                 std::span<const ReuseHistogram> parts, double weight,
                                                                 std::size_t points);

}  // namespace rayreplay::memory
