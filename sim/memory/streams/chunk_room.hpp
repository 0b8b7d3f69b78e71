// How many rays a source of warps takes up at a time, and what it holds meanwhile.
//
// Contract: chunks have at most `most_rays` rays. They begin with one item and double, and stay near kBytes by what the
// latest chunks took a ray: rays of deep or overlapping scenes make thousands of accesses, which are there until their
// chunk has been coalesced. An item is never cut. `holding`, where there is one, is told what all threads together may
// hold by the largest chunk so far, and how many transactions were made so far; it is called by one thread at a time,
// before the next chunk is begun, and may throw. Thread-safe. What is made does not depend on the chunks.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <mutex>
#include <utility>

namespace rayreplay::memory {

/// Of a source of warps.
struct Holding {
  std::uint64_t bytes = 0;         ///< at a time, beside the streams that were handed over
  std::uint64_t transactions = 0;  ///< made so far, each item's once
};
using TellHolding = std::function<void(const Holding&)>;

class ChunkRoom {
 public:
  static constexpr std::uint64_t kBytes = std::uint64_t{16} << 20U;

  ChunkRoom(std::uint64_t most_rays, TellHolding holding) : most_rays_(most_rays), holding_(std::move(holding)) {}

  /// Of the next chunk; 0: one item whatever it has.
  [[nodiscard]] std::uint64_t rays() const {
    const std::lock_guard lock(mutex_);
    return rays_;
  }

  /// What a chunk took. `threads`: may hold such a chunk at a time.
  void note(std::uint64_t rays, std::uint64_t bytes, std::uint64_t transactions, std::uint64_t threads) {
    const std::lock_guard lock(mutex_);
    // Of latest chunks those that took most count: neighbours are alike, and a few rays too many cost more than time.
    bytes_per_ray_ = std::max(bytes / std::max<std::uint64_t>(rays, 1), bytes_per_ray_ - bytes_per_ray_ / 8);
    rays_ = std::min({most_rays_, std::max(rays_, rays) * 2, kBytes / std::max<std::uint64_t>(bytes_per_ray_, 1)});
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
