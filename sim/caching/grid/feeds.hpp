// A recorded stream as caches see it: what comes to each L1, and what comes to the L2.
//
// Contract: `l1` gives the accesses of some SMs' L1s, SM after SM, in their order, with sectors of a size. `all` gives
// every transaction to the L2; `misses` what L1s of a model ask for (fills, stores), in the order of the transactions
// that caused it, in lines and sectors of the L2 (sim/memory/results/analysis.hpp). Errors: Internal for transactions
// that cannot be; Resource for more of them than can be counted exactly. Memory: 4 bytes a transaction, what is
// returned (16 bytes an access), and a block of transactions.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/caching/grid/level_runs.hpp"
#include "sim/caching/grid/recorded_stream.hpp"
#include "sim/memory/results/line_split.hpp"

namespace rayreplay::experiment {

class StreamFeeds {
 public:
  explicit StreamFeeds(const RecordedStream& stream);

  /// Where SMs begin.
  [[nodiscard]] const std::vector<std::uint64_t>& begins() const {
    return begins_;
  }
  /// Of SMs [first, last).
  [[nodiscard]] std::vector<memory::LineAccess> l1(std::uint32_t sector_bytes, std::size_t first,
                                                   std::size_t last) const;
  [[nodiscard]] std::vector<memory::LineAccess> all(std::uint32_t line_bytes, std::uint32_t sector_bytes) const;
  /// In lines and sectors of the L1, of an exact model.
  [[nodiscard]] std::vector<memory::LineAccess> misses(const LevelCache& cache) const;

 private:
  /// Rows of `order_`, as an L1 sees them.
  void fill(const memory::LineSplit& to, std::uint64_t row, std::span<memory::LineAccess> into) const;

  const RecordedStream& stream_;
  std::vector<std::uint64_t> begins_;
  std::vector<std::uint32_t> order_;  ///< transactions, SM after SM
};

/// The same accesses in other lines and sectors.
[[nodiscard]] std::vector<memory::LineAccess> split(const std::vector<memory::LineAccess>& accesses,
                                                    std::uint32_t from_line, std::uint32_t from_sector,
                                                    std::uint32_t to_line, std::uint32_t to_sector);

}  // namespace rayreplay::experiment
