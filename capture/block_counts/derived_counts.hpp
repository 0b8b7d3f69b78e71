// Every block's count, from the counts of some blocks and edges.
//
// Contract: any sites and counts are taken, also damaged ones. `fault` names the first contradiction: a negative count,
// a place where other numbers go out than come in, a block that the sites do not determine, a site that is none of the
// function's. The counts are then meaningless. Each arc is visited once for each of its places.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "capture/block_counts/counter_plan.hpp"

namespace rayreplay::block_counts {

struct DerivedCounts {
  std::vector<std::uint64_t> blocks;  ///< 0 for those that the entry does not reach; the first: calls of the function
  std::string fault;                  ///< empty: sound
};

/// `counts[i]`: executions of `sites[i]`.
[[nodiscard]] DerivedCounts derive_counts(const spirv::ControlFlow& flow, const std::vector<bool>& may_end,
                                          std::span<const CounterSite> sites, std::span<const std::uint64_t> counts);

}  // namespace rayreplay::block_counts
