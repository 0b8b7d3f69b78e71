// Recorded accesses of several lanes that run one call, as instructions of their warp.
//
// Contract: a lane's accesses are its sites in the order in which it ran them. The n-th executions of a site by all
// lanes that run it so often are one instruction. So instructions do not depend on the lanes' order, which only decides
// the order of instructions: one comes after all that precede it in any of its lanes; of several, the one of the lowest
// lane, then of the earliest place in this lane. Lanes can contradict each other (a loop that reaches two sites in
// turn, and in some lanes one of them later); where every instruction has to wait for another, the next one is the
// first that is left of the lowest lane. Deterministic. O(n log n) for n accesses.
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
