// Paths of a module's shader calls: what their records count.
//
// A call counts executions in private memory and records them where it ends. A shader has a counter for each site of
// the functions that it reaches, in the order of `functions`; every block's executions follow from them
// (block_counts/derived_counts.hpp).
//
// Contract: data only.
#pragma once

#include <cstdint>
#include <vector>

#include "capture/block_counts/counter_plan.hpp"

namespace rayreplay::instrument {

struct PathFunction {
  std::uint32_t function = 0;          ///< its place among the module's functions
  std::vector<std::uint16_t> shaders;  ///< that reach it, ascending
  std::vector<block_counts::CounterSite> sites;
};

struct PathLayout {
  std::vector<std::uint16_t> shaders;  ///< that record paths, ascending
  std::vector<PathFunction> functions;
};

}  // namespace rayreplay::instrument
