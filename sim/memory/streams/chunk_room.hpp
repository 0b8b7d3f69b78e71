// The number of rays that a source of warps processes at a time, and its memory meanwhile.
//
// Contract: chunks have at most `most_rays` rays. They begin with one item and double, and stay near kBytes according
// to the bytes a ray of the latest chunks, because rays of deep or overlapping scenes make thousands of accesses, which
// are held until their chunk is coalesced. An item is never split. `holding`, if given, is told the most that all
// threads together may hold, judged by the largest chunk so far, and the number of transactions so far. One thread at a
// time calls it, before the next chunk; it may throw. Thread-safe. Chunk sizes do not affect results.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <mutex>
#include <utility>

namespace rayreplay::memory {

/// State of a source of warps.
struct Holding {
  std::uint64_t bytes = 0;         ///< at a time, besides finished streams
  std::uint64_t transactions = 0;  ///< made so far, each item counted once
};
using TellHolding = std::function<void(const Holding&)>;

class ChunkRoom {
 public:
  static constexpr std::uint64_t kBytes = std::uint64_t{16} << 20U;

  ChunkRoom(std::uint64_t most_rays, TellHolding holding) : most_rays_(most_rays), holding_(std::move(holding)) {}

  /// Rays of the next chunk; 0: a single item of any size.
  [[nodiscard]] std::uint64_t rays() const {
    const std::lock_guard lock(mutex_);
    return rays_;
  }

  /// Reports the size of a chunk. `threads`: that may hold such a chunk at a time.
  void note(std::uint64_t rays, std::uint64_t bytes, std::uint64_t transactions, std::uint64_t threads) {
    const std::lock_guard lock(mutex_);
    // The largest of the latest chunks counts: neighbours are similar, and chunks that are too large cost more than
    // ones that are too small.
    if (rays > 0) {
      bytes_per_ray_ = std::max(bytes / rays, bytes_per_ray_ - bytes_per_ray_ / 8);
      rays_ = std::min({most_rays_, std::max(rays_, rays) * 2, kBytes / std::max<std::uint64_t>(bytes_per_ray_, 1)});
    }
    holding_now_.transactions += transactions;
    holding_now_.bytes = std::max(holding_now_.bytes, bytes * threads);
    if (holding_) {
      holding_(holding_now_);
    }
  }

 private:
  const std::uint64_t most_rays_;
  TellHolding holding_;
  mutable std::mutex mutex_;
  std::uint64_t rays_ = 0;
  std::uint64_t bytes_per_ray_ = 0;
  Holding holding_now_;
};

}  // namespace rayreplay::memory
