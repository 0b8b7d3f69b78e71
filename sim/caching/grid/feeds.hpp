// The accesses of caches in a recorded stream: those of each L1, and those of the L2.
//
// Contract: `l1` gives the accesses of some SMs' L1s, SM after SM, in order, with sectors of a given size. `all` gives
// every transaction to the L2. `misses` gives the requests (fills, stores) of L1s of a model, in the order of the
// transactions that caused them, in lines and sectors of the L2 (sim/memory/results/analysis.hpp). Errors: Internal for
// invalid transactions; Resource for more than can be counted exactly. Memory: 4 bytes a transaction, the result (16
// bytes an access), and a block of transactions.
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

  /// Start of each SM.
  [[nodiscard]] const std::vector<std::uint64_t>& begins() const {
    return begins_;
  }
  /// For SMs [first, last).
  [[nodiscard]] std::vector<memory::LineAccess> l1(std::uint32_t sector_bytes, std::size_t first,
                                                   std::size_t last) const;
  [[nodiscard]] std::vector<memory::LineAccess> all(std::uint32_t line_bytes, std::uint32_t sector_bytes) const;
  /// Requests of the L1s, in lines and sectors of the L1. `cache`: their model, which must be exact.
  [[nodiscard]] std::vector<memory::LineAccess> misses(const LevelCache& cache) const;

 private:
  /// Rows of `order_`, as L1 accesses.
  void fill(const memory::LineSplit& to, std::uint64_t row, std::span<memory::LineAccess> into) const;

  const RecordedStream& stream_;
  std::vector<std::uint64_t> begins_;
  std::vector<std::uint32_t> order_;  ///< transactions, SM after SM
};

/// Converts accesses to other lines and sectors.
[[nodiscard]] std::vector<memory::LineAccess> split(const std::vector<memory::LineAccess>& accesses,
                                                    std::uint32_t from_line, std::uint32_t from_sector,
                                                    std::uint32_t to_line, std::uint32_t to_sector);

}  // namespace rayreplay::experiment
