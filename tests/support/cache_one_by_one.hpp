// The slow twin of cache_grid: one hierarchy through memory::Analysis.
#pragma once

#include <algorithm>
#include <cstddef>

#include "sim/caching/grid/cache_grid.hpp"

namespace rayreplay::test {

inline experiment::HierarchyCounts cache_one_by_one(const experiment::RecordedStream& stream,
                                                    const experiment::Hierarchy& hierarchy) {
  memory::AnalysisOptions options;
  options.sms = stream.sms;
  options.l1 = hierarchy.l1;
  options.l2 = hierarchy.l2;
  options.l1_model = hierarchy.l1_model;
  options.l2_model = hierarchy.l2_model;
  options.l2_feed = hierarchy.l2_feed;
  options.distances = false;
  options.coalescing = stream.coalescing;
  memory::Analysis analysis(options);
  constexpr std::size_t kBlock = std::size_t{1} << 16U;
  memory::TransactionBlock block;
  for (std::size_t at = 0; at < stream.transactions.size(); at += kBlock) {
    const auto first = stream.transactions.begin() + static_cast<std::ptrdiff_t>(at);
    const std::size_t size = std::min(kBlock, stream.transactions.size() - at);
    block.transactions.assign(first, first + static_cast<std::ptrdiff_t>(size));
    analysis.take(block);
  }
  const memory::AnalysisResult result = analysis.finish();
  return {result.levels[memory::kL1].counts, result.levels[memory::kL2].counts, result.total.dram_read_bytes,
          result.total.dram_write_bytes};
}

}  // namespace rayreplay::test
