// Miss-ratio curves of sampled streams, and how far they may be off.
//
// Contract: a sample's histogram stands for the whole stream once it is `adjusted` (histogram.hpp). Its standard error
// comes from the parts into which the engine has split its lines at random (ReuseStack::parts): each part is by itself
// a sample of the stream, at a rate as many times lower, with distances of its own, so that the scatter of the parts'
// curves, divided by the root of their number, says how far the curve of all of them scatters (the random groups of
// Wolter, "Introduction to Variance Estimation", 1985); times √(1 − rate), as a part excludes the others' lines. It
// covers which lines were chosen and what that does to distances. With P parts it is itself uncertain by about
// 1 / √(2(P − 1)). It says nothing where the sample cannot tell sizes apart: below about 10 / rate lines. Histograms of
// several stacks with the same seed (an L1 for each SM) are summed, part by part, before the error is taken: lines that
// are in one's sample are in that of all.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/memory/reuse/histogram.hpp"

namespace rayreplay::memory {

/// Part by part; an empty `sum` becomes a copy. Internal when the numbers differ otherwise.
void merge_parts(std::vector<ReuseHistogram>& sum, std::span<const ReuseHistogram> more);

/// Of the miss ratio of `lines` lines, as the sample has it; −1: unknown, as there are not two parts, or no accesses.
/// `weight`: that of the whole sample. O(parts · bins).
[[nodiscard]] double standard_error(std::span<const ReuseHistogram> parts, double weight, std::uint64_t lines);

struct SampledPoint {
  std::uint64_t lines = 0;
  double miss_ratio = 0;
  double error = 0;  ///< standard error; −1: unknown
};
/// That of the adjusted sample, at the sizes of miss_ratio_curve.
[[nodiscard]] std::vector<SampledPoint> sampled_miss_ratio_curve(const ReuseHistogram& sample,
                                                                 std::span<const ReuseHistogram> parts, double weight,
                                                                 std::size_t points);

}  // namespace rayreplay::memory
