// Memory time by SM and by stage of the ray-tracing pipeline.
//
// Contract: an SM's cycles are split as in time_shares.hpp, into kTimeParts shares that sum to 1. For each part, and
// for the cycles with warps, `sm_spread` has the least, the median and the largest share of an SM, and the SM with the
// largest (ties: the lowest number). The median of an even number of SMs is the mean of the middle two. `stage_shares`
// are warp-cycles by stage and state, as shares of all warp-cycles: they sum to 1. All shares are 0 without cycles.
// O(n log n) in the number of SMs.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/machine/interleave.hpp"
#include "sim/machine/time_shares.hpp"

namespace rayreplay::machine {

/// The parts of an SM's cycles, then the share with warps: the sum of all but barrier and idle.
inline constexpr std::size_t kWithWarpsPart = kTimeParts, kSmParts = kTimeParts + 1;

struct PartSpread {
  double least = 0, median = 0, most = 0;
  std::uint32_t sm = 0;  ///< with the most
};

using StageShares = std::array<std::array<double, kWarpWaits>, memory::kWorkStages>;

[[nodiscard]] std::array<double, kSmParts> sm_parts(const SmTime& sm, std::uint64_t cycles);
[[nodiscard]] std::array<PartSpread, kSmParts> sm_spread(const MemoryTime& time, std::uint64_t cycles);
[[nodiscard]] StageShares stage_shares(const MemoryTime& time);

}  // namespace rayreplay::machine
