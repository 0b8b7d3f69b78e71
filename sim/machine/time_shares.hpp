// Memory time as shares: parts of the SM-cycles, busy shares of resources, and the resource that bounds the launch.
//
// Contract: `parts` are shares of all SM-cycles and sum to 1: an SM's busy cycles are divided in proportion to the
// states of its warps. `busy` are cycles of service over the resource's cycles; of MSHRs, the share of SM-cycles in
// which all are held and a load unit waits for one. The bound is the busiest resource (ties: the first). A
// launch without cycles has parts of 0. O(SMs).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "sim/machine/interleave.hpp"
#include "sim/machine/machine.hpp"

namespace rayreplay::machine {

/// Parts of SM-cycles: the states of warps in their order, then those of SMs without warps.
inline constexpr std::size_t kBarrierPart = kWarpWaits, kIdlePart = kWarpWaits + 1, kTimeParts = kWarpWaits + 2;
inline constexpr std::array<const char*, kTimeParts> kTimePartNames = {
    "reorder", "issue", "traversal", "load unit", "L1", "merged", "L2", "DRAM", "barrier", "idle"};

enum class Resource : std::uint8_t { IssueSlots, RayUnit, L2Bandwidth, DramBandwidth, Mshrs };
inline constexpr std::size_t kResourcesOfTime = 5;
inline constexpr std::array<const char*, kResourcesOfTime> kResourceNames = {"issue slots", "ray-tracing units",
                                                                             "L2 bandwidth", "DRAM bandwidth", "MSHRs"};

struct TimeShares {
  std::array<double, kTimeParts> parts{};
  std::array<double, kResourcesOfTime> busy{};
  double resident_warps = 0;  ///< of an SM, mean over all SM-cycles
  Resource bound = Resource::IssueSlots;

  [[nodiscard]] double of_bound() const {
    return busy[static_cast<std::size_t>(bound)];
  }
};

[[nodiscard]] TimeShares time_shares(const MemoryTime& time, std::uint64_t cycles, std::uint64_t mshr_stall_cycles,
                                     const Machine& machine);

/// "the busiest resource is DRAM bandwidth, 85.0 % busy; of SM-cycles 61.2 % DRAM, 20.1 % traversal, 7.0 % issue".
[[nodiscard]] std::string time_verdict(const TimeShares& shares);

}  // namespace rayreplay::machine
