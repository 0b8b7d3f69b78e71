// Assignment of threads to lanes of warps, and the start order of warps.
//
// Contract: warps are numbered by the *row-major index* of their position in the launch; a place is row-major index ·
// warp_size + lane. Every thread has exactly one place; lanes without a thread hold kNoThread (partial warps at the
// edges). `start_rank` is a permutation of 0…warps−1: the warp's position in the launch order, which is the warp id of
// MODELS.md §6's tie breaks. Warps of one launch tile (MODELS.md §5) share a tile number; tiles are numbered row-major.
#pragma once

#include <cstdint>
#include <string>

#include "base/error.hpp"
#include "capture/trace/column.hpp"

namespace rayreplay::scheduler {

inline constexpr std::uint32_t kNoThread = 0xFFFF'FFFFU;
inline constexpr std::uint32_t kMaxWarpSize = 64;

/// Usage unless it is 1 to kMaxWarpSize.
inline void check_warp_size(std::uint32_t warp_size) {
  if (warp_size == 0 || warp_size > kMaxWarpSize) {
    usage("the warp size is out of range", "", std::to_string(warp_size), "1 to " + std::to_string(kMaxWarpSize));
  }
}

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
