// The L1s of a hierarchy: one cache for each SM, and their requests to the level below. Internal to this folder.
//
// Contract: `run` sends a chunk's transactions through the L1s of their SMs, in parallel, and writes the accesses of
// the level below (`l2`, `l2_begin` of the chunk): the requests of the L1s if `needed_below`, else all transactions.
// Without an L1 every transaction goes below. `end_window` adds the sums since the last call to a window;
// `move_distances` and `finish` write the level's results. Options must outlive this object. Rules and errors:
// analysis.hpp.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "sim/memory/results/analysis.hpp"
#include "sim/memory/results/cache_unit.hpp"
#include "sim/memory/results/chunk.hpp"
#include "sim/memory/results/line_split.hpp"

namespace rayreplay::memory {

/// Sizes of the accesses of the level below.
struct BelowSizes {
  std::uint32_t line_bytes = 0, sector_bytes = 0;
};

class UpperLevel {
 public:
  /// `below`: of the L2, if there is one. `device`: computes reuse distances; null: the caches compute them.
  UpperLevel(const AnalysisOptions& options, LevelModels models, bool needed_below, std::optional<BelowSizes> below,
             Accelerator* device);

  [[nodiscard]] bool present() const {
    return models_.present();
  }
  /// Sectors of the requests to the level below, in bytes.
  [[nodiscard]] std::uint32_t memory_sector() const {
    return memory_sector_;
  }

  void run(Chunk& chunk);
  void end_window(WindowSums& window);
  void move_distances(LevelResult& result);
  void finish(LevelResult& result) const;

 private:
  struct Sm {
    std::optional<CacheUnit> cache;
    // For the current window:
    std::array<Tally, kDataKinds> tallies;
    KindSums traffic;                       ///< of an exact model
    std::vector<ReuseHistogram> distances;  ///< by kind; empty unless wanted. Of the window, if by window
  };

  void run_cache(Chunk& chunk, std::size_t number);
  void add_sums(const Chunk& chunk, std::size_t number);
  void send_down(Chunk& chunk, std::size_t number) const;
  void send_all(Chunk& chunk) const;

  const AnalysisOptions* options_;
  LevelModels models_;
  bool needed_below_;
  std::uint32_t memory_sector_ = 0;
  std::optional<LineSplit> from_stream_, to_below_;
  std::vector<Sm> sms_;
  std::optional<ChunkDistances> stacks_;  ///< if a device computes distances
};

}  // namespace rayreplay::memory
