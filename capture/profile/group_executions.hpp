// Executions of lanes that make one call together: the definition that efficiencies and costs from paths share.
//
// Contract: lanes are taken to meet again at every block, also of different rounds of a loop, so the group executes
// each block as often as the lane with most executions of it (path_efficiency.hpp says what follows from this):
//
//   Σ over blocks b of weight(b) · max over members of executions(member, b)
//
// `weights`: by block, instructions or issue slots. `executions(member, b)` is a Sum, not below 0. Sums must fit a Sum.
// O(members · blocks).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace rayreplay::profile {

template <class Sum, class Member, class Executions>
[[nodiscard]] Sum group_executions(std::span<const std::uint32_t> weights, std::span<const Member> members,
                                   const Executions& executions) {
  Sum sum = 0;
  for (std::size_t b = 0; b < weights.size(); ++b) {
    Sum most = 0;
    for (const Member& member : members) {
      most = std::max<Sum>(most, executions(member, b));
    }
    sum += most * static_cast<Sum>(weights[b]);
  }
  return sum;
}

}  // namespace rayreplay::profile
