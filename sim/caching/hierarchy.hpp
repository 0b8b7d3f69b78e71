// The caches under analysis: an L1 for each SM, one L2 for all.
//
// Contract: plain data; the analyses check it.
#pragma once

#include <string>

#include "sim/memory/caches/cache_model.hpp"
#include "sim/memory/results/analysis.hpp"

namespace rayreplay::experiment {

struct Hierarchy {
  memory::CacheGeometry l1, l2;  ///< bytes 0: no such level
  std::string l1_model;          ///< resolved specs
  std::string l2_model;
  memory::L2Feed l2_feed = memory::L2Feed::Misses;
};

}  // namespace rayreplay::experiment
