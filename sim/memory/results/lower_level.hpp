// The L2 of a hierarchy, and DRAM traffic. Internal to this folder.
//
// Contract: `run` sends the accesses below the L1s (`l2` of a chunk) through the L2, in order, or to DRAM without one,
// and adds hits and fetched bytes to the outcomes of their transactions, if the chunk has outcomes. `end_window` adds
// the sums since the last call to a window; `move_distances` and `finish` write the level's results. `run` of a chunk
// may be called while `find_distances` of the next one runs. Options must outlive this object. Rules and errors:
// analysis.hpp.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "sim/memory/results/analysis.hpp"
#include "sim/memory/results/cache_unit.hpp"
#include "sim/memory/results/chunk.hpp"

namespace rayreplay::memory {

class LowerLevel {
 public:
  /// `memory_sector`: bytes of a sector of DRAM traffic. `device`: computes reuse distances (`find_distances`); null:
  /// the cache computes them.
  LowerLevel(const AnalysisOptions& options, LevelModels models, std::uint32_t memory_sector, Accelerator* device);

  void find_distances(Chunk& chunk);

  void run(Chunk& chunk);
  /// Of the last `run`; empty without an L2 or distances.
  [[nodiscard]] std::span<const std::uint32_t> distances() const {
    return cache_ ? cache_->distances() : std::span<const std::uint32_t>();
  }
  void end_window(WindowSums& window);
  void move_distances(LevelResult& result);
  void finish(LevelResult& result) const;

 private:
  void run_cache(Chunk& chunk);
  void log_evictions(const Chunk& chunk);
  void to_memory(TransactionOutcome& outcome, const LineAccess& access, std::uint64_t probability);
  [[nodiscard]] TransactionOutcome& outcome_of(Chunk& chunk, std::size_t transaction) {
    return chunk.outcomes.empty() ? nobodys_ : chunk.outcomes[transaction];
  }

  const AnalysisOptions* options_;
  LevelModels models_;
  std::uint32_t memory_sector_;
  std::optional<CacheUnit> cache_;
  std::optional<ChunkDistances> stacks_;       ///< if a device computes distances
  std::uint64_t l2_accesses_of_requests_ = 0;  ///< upper bound: at least as many as accesses
  TransactionOutcome nobodys_;                 ///< written for all transactions, if outcomes are not wanted
  // For the current window:
  std::array<Tally, kDataKinds> tallies_;
  KindSums traffic_{};                     ///< of an exact model
  std::vector<ReuseHistogram> distances_;  ///< by kind; empty unless wanted. Of the window, if by window
  std::vector<Tally> sm_tallies_;
  std::vector<LevelSums> sm_traffic_;
  std::uint64_t window_read_ = 0;  ///< whole bytes of finished chunks
  std::uint64_t dram_read_ = 0;    ///< and the remainder, fixed point
  std::uint64_t dram_write_ = 0;
};

}  // namespace rayreplay::memory
