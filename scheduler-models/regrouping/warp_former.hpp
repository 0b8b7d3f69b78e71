// From sorted threads to warps: kept lanes and continued warps (regroup.hpp states both rules).
//
// Contract: input are the sorted threads of one unit, cut into warps. `place_threads` finds the lanes of one warp's
// threads. `Claims`, called for one warp after another, counts the moved threads; earlier warps are numbered from 0
// without gaps. O(threads); O(warp size · log) for a warp with threads of many earlier warps in mixed order.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "scheduler-models/regrouping/segments.hpp"
#include "scheduler-models/warp_assignment.hpp"

namespace rayreplay::scheduler {

/// A waiting thread and its last place.
struct Waiting {
  std::uint32_t segment;
  std::uint32_t place;  ///< warp · 64 + lane

  static constexpr std::uint32_t kMaxWarps = 1U << 26;
  static Waiting at(std::uint32_t segment, std::uint32_t warp, std::uint32_t lane) {
    return {segment, warp << 6 | lane};
  }
  [[nodiscard]] std::uint32_t warp() const {
    return place >> 6;
  }
  [[nodiscard]] std::uint32_t lane() const {
    return place & 63;
  }
};

/// Writes warp_size places.
inline void place_threads(std::span<const Waiting> threads, std::uint32_t warp_size, bool keep_lanes,
                          std::uint32_t* segment_at) {
  std::fill_n(segment_at, warp_size, kNoSegment);
  // Branch-free: whether a lane is taken cannot be predicted.
  std::array<std::uint32_t, kMaxWarpSize + 1> homeless;  // NOLINT(cppcoreguidelines-pro-type-member-init)
  std::uint64_t taken = 0;
  std::size_t count = 0;
  for (const Waiting& thread : threads) {
    const std::uint64_t bit = std::uint64_t{1} << thread.lane();
    const bool keeps = keep_lanes && (taken & bit) == 0;
    std::uint32_t* const to = keeps ? segment_at + thread.lane() : homeless.data() + count;
    *to = thread.segment;
    taken |= keeps ? bit : 0;
    count += keeps ? 0 : 1;
  }
  std::uint64_t free = ~taken;
  for (std::size_t i = 0; i < count; ++i) {
    segment_at[std::countr_zero(free)] = homeless[i];
    free &= free - 1;
  }
}

/// The earlier warps of a warp's threads, most threads first, ties to the lowest.
struct Givers {
  static constexpr std::size_t kListed = 4;
  std::array<std::uint32_t, kListed> warp;
  std::array<std::uint8_t, kListed> threads;  ///< 0 after the last earlier warp
  bool more;                                  ///< there are more earlier warps than listed
};

namespace detail {

/// Calls `visit(warp, threads)` for each earlier warp that gives threads.
template <class Visitor>
void visit_givers(std::span<const Waiting> threads, Visitor visit) {
  std::array<std::uint32_t, kMaxWarpSize> from;  // NOLINT(cppcoreguidelines-pro-type-member-init)
  bool sorted = true;
  for (std::size_t i = 0; i < threads.size(); ++i) {
    from[i] = threads[i].warp();
    sorted = sorted && (i == 0 || from[i - 1] <= from[i]);
  }
  if (!sorted) {
    std::sort(from.begin(), from.begin() + static_cast<std::ptrdiff_t>(threads.size()));
  }
  for (std::size_t begin = 0; begin < threads.size();) {
    std::size_t end = begin + 1;
    while (end < threads.size() && from[end] == from[begin]) {
      ++end;
    }
    visit(from[begin], static_cast<std::uint8_t>(end - begin));
    begin = end;
  }
}

}  // namespace detail

inline Givers find_givers(std::span<const Waiting> threads) {
  Givers givers{};
  detail::visit_givers(threads, [&](std::uint32_t warp, std::uint8_t count) {
    std::size_t at = Givers::kListed;
    while (at > 0 && givers.threads[at - 1] < count) {
      --at;
    }
    givers.more = givers.more || givers.threads.back() > 0;
    if (at == Givers::kListed) {
      return;
    }
    for (std::size_t i = Givers::kListed - 1; i > at; --i) {
      givers.warp[i] = givers.warp[i - 1];
      givers.threads[i] = givers.threads[i - 1];
    }
    givers.warp[at] = warp;
    givers.threads[at] = count;
  });
  return givers;
}

class Claims {
 public:
  static constexpr std::uint32_t kNoWarp = 0xFFFF'FFFFU;

  void start(std::size_t earlier_warps) {
    claimed_.assign(earlier_warps, 0);
  }
  /// The earlier warp that the last warp continues; kNoWarp: all of its threads moved.
  [[nodiscard]] std::uint32_t continued() const {
    return continued_;
  }
  /// The number of moved threads. `threads()` is called only where the listed givers do not decide.
  template <class Threads>
  std::uint32_t moved(std::uint32_t count, const Givers& givers, Threads threads) {
    for (std::size_t i = 0; i < Givers::kListed && givers.threads[i] > 0; ++i) {
      if (claimed_[givers.warp[i]] == 0) {
        claimed_[givers.warp[i]] = 1;
        continued_ = givers.warp[i];
        return count - givers.threads[i];
      }
    }
    continued_ = kNoWarp;
    return givers.more ? count - claim_any(threads()) : count;
  }

 private:
  std::uint32_t claim_any(std::span<const Waiting> threads) {
    std::uint32_t most = 0;
    std::uint32_t best = 0;
    detail::visit_givers(threads, [&](std::uint32_t warp, std::uint8_t count) {
      if (claimed_[warp] == 0 && count > most) {
        most = count;
        best = warp;
      }
    });
    if (most > 0) {
      claimed_[best] = 1;
      continued_ = best;
    }
    return most;
  }

  std::vector<std::uint8_t> claimed_;  ///< by earlier warp
  std::uint32_t continued_ = kNoWarp;
};

}  // namespace rayreplay::scheduler
