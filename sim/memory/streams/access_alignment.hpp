// Recorded accesses of several lanes that run one call, as instructions of their warp.
//
// Contract: a lane's accesses are its sites in the order in which it ran them. The n-th executions of a site, by all
// lanes that ran it n times or more, are one instruction. So the order within lanes does not decide which accesses are
// one instruction, only which instruction comes first: each comes after all that precede it in any of its lanes. If
// several could be next, it is one of the lowest lane, and of these the earliest in this lane. Two lanes can contradict
// each other: in a loop with two sites, one lane may reach the second site an iteration later. Where every instruction
// has to wait for another, the next one is the first that is left of the lowest lane. Deterministic. O(n log n) for n
// accesses.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace rayreplay::memory {

/// Access `place` of lane `lane`, both as in the arguments.
struct AlignedAccess {
  std::uint32_t lane = 0, place = 0;

  bool operator==(const AlignedAccess&) const = default;
};

struct AlignedAccesses {
  std::vector<AlignedAccess> accesses;  ///< by instruction, then lane
  std::vector<std::size_t> first;       ///< instructions + 1
};

[[nodiscard]] AlignedAccesses align_accesses(std::span<const std::vector<std::uint32_t>> lanes);

}  // namespace rayreplay::memory
