// Which thread runs in which lane of which warp, and when the warp starts.
//
// Contract: warps are numbered in row-major order of their position in the launch (the *row-major index*); a place is
// row-major index · warp_size + lane. Every thread of the launch stands at exactly one place; lanes without a thread
// hold kNoThread (partial warps at the edges). `start_rank` is a permutation of 0…warps−1: the place of the warp in the
// launch order, which is the warp id of MODELS.md §6's tie breaks. Warps of one launch tile (MODELS.md §5) share a tile
// number; tiles are numbered in row-major order.
#pragma once

#include <cstdint>

#include "capture/trace/column.hpp"

namespace rayreplay::scheduler {

inline constexpr std::uint32_t kNoThread = 0xFFFF'FFFFU;
inline constexpr std::uint32_t kMaxWarpSize = 64;

struct WarpAssignment {
  std::uint32_t warp_size = 32;
  trace::Column<std::uint32_t> thread_at;   ///< one entry per place
  trace::Column<std::uint32_t> start_rank;  ///< one entry per warp
  trace::Column<std::uint32_t> tile;        ///< one entry per warp

  [[nodiscard]] std::size_t warps() const {
    return start_rank.size();
  }
};

/// Throws Internal unless the assignment keeps the contract for `threads` threads.
void check(const WarpAssignment& assignment, std::uint64_t threads);

}  // namespace rayreplay::scheduler
