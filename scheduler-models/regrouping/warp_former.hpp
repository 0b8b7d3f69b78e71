// From sorted threads to warps: lanes kept, and who continues whose warp (regroup.hpp states both rules).
//
// Contract: threads that wait in one unit were sorted and cut into warps; each is given in turn to `form`, which finds
// the lanes of its threads and how many of them moved. Earlier warps are numbered from 0 without gaps. The memory of a
// former may be used for unit after unit: `start` forgets who was claimed. O(threads), and for warps of threads from
// many earlier warps in mixed order O(warp size · log) each.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "scheduler-models/regrouping/segments.hpp"
#include "scheduler-models/warp_assignment.hpp"

namespace rayreplay::scheduler {

/// A thread that waits, and where it ran last.
struct Waiting {
  std::uint32_t segment;
  std::uint32_t warp;
  std::uint8_t lane;
};

class WarpFormer {
 public:
  WarpFormer(std::uint32_t warp_size, bool keep_lanes) : warp_size_(warp_size), keep_lanes_(keep_lanes) {}

  void start(std::size_t earlier_warps) {
    claimed_.assign(earlier_warps, 0);
  }

  /// Writes warp_size places; returns how many threads moved.
  std::uint32_t form(std::span<const Waiting> threads, std::uint32_t* segment_at) {
    place(threads, segment_at);
    return static_cast<std::uint32_t>(threads.size()) - claim(threads);
  }

 private:
  void place(std::span<const Waiting> threads, std::uint32_t* segment_at) const {
    std::fill_n(segment_at, warp_size_, kNoSegment);
    std::array<std::uint32_t, kMaxWarpSize> homeless;  // NOLINT(cppcoreguidelines-pro-type-member-init)
    std::size_t count = 0;
    for (const Waiting& thread : threads) {
      if (keep_lanes_ && segment_at[thread.lane] == kNoSegment) {
        segment_at[thread.lane] = thread.segment;
      } else {
        homeless[count++] = thread.segment;
      }
    }
    std::uint32_t lane = 0;
    for (std::size_t i = 0; i < count; ++i, ++lane) {
      while (segment_at[lane] != kNoSegment) {
        ++lane;
      }
      segment_at[lane] = homeless[i];
    }
  }

  /// How many threads the warp that is continued gives: 0 where all who give any have been claimed.
  std::uint32_t claim(std::span<const Waiting> threads) {
    std::array<std::uint32_t, kMaxWarpSize> from;  // NOLINT(cppcoreguidelines-pro-type-member-init)
    std::size_t count = 0;
    bool sorted = true;
    for (const Waiting& thread : threads) {
      if (claimed_[thread.warp] == 0) {
        sorted = sorted && (count == 0 || from[count - 1] <= thread.warp);
        from[count++] = thread.warp;
      }
    }
    if (!sorted) {
      std::sort(from.begin(), from.begin() + static_cast<std::ptrdiff_t>(count));
    }
    std::uint32_t most = 0;
    std::uint32_t best = 0;
    for (std::size_t begin = 0; begin < count;) {
      std::size_t end = begin + 1;
      while (end < count && from[end] == from[begin]) {
        ++end;
      }
      if (end - begin > most) {
        most = static_cast<std::uint32_t>(end - begin);
        best = from[begin];
      }
      begin = end;
    }
    if (most > 0) {
      claimed_[best] = 1;
    }
    return most;
  }

  std::uint32_t warp_size_;
  bool keep_lanes_;
  std::vector<std::uint8_t> claimed_;  ///< by earlier warp
};

}  // namespace rayreplay::scheduler
