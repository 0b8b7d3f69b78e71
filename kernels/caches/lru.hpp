// Hits of many set-associative LRU caches over the same streams, on a device.
//
// Contract: streams as in kernels/reuse/reuse.hpp, each with its own caches (an L1 per SM). Every access uses its line
// and allocates it on a miss. A cache of s sets and w ways holds the line of an access if fewer than w other lines of
// its set were used since its last use: the reuse distance within the set. One pass per number of sets therefore gives
// all numbers of ways (inclusion: Mattson et al., IBM Systems Journal 1970). The cost of a pass does not depend on the
// sets: accesses are sorted by set (stable), their links to the next use, found once, are renumbered, and distances are
// counted as in kernels/reuse.
//
// Device memory: `lru_bytes`; 33 bytes an access with lines of 32 bits (32 million accesses a GiB), 45 with 64.
// Errors: DeviceError.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/reuse/reuse.hpp"

namespace rayreplay::kernels {

inline constexpr std::uint32_t kMaxLruWays = 64;  ///< different numbers of ways that are counted at a time

[[nodiscard]] std::uint64_t lru_bytes(std::uint64_t accesses, unsigned line_bytes);

class LruPasses {
 public:
  /// `line_bytes`: size of a given line number, 4 or 8.
  LruPasses(Device& device, std::uint64_t accesses, unsigned line_bytes);

  /// The caller writes the lines, less `low`, before `link`.
  [[nodiscard]] const Buffer& lines() const {
    return lines_;
  }
  /// Called once. `end_bit`: bits from it on are equal in all lines; `begins`: of streams, as for link_uses.
  void link(Stream& stream, unsigned end_bit, const Buffer& begins, std::uint32_t streams);

  /// Distances within sets. `low`: the amount subtracted from the lines.
  void count_sets(Stream& stream, std::uint64_t sets, std::uint64_t low);
  /// After `count_sets`, any number of times: adds to rows of `counts` (kMaxLruWays + 1 words each) in entry i the
  /// accesses of a piece whose first hit is at ways[i], in the last entry those without a hit. `ways`: 32-bit words,
  /// ascending.
  void count_ways(Stream& stream, const Buffer& ways, std::uint32_t ways_count, const Buffer& pieces,
                  std::uint64_t piece_count, const Buffer& counts);

 private:
  Device* device_;
  std::uint64_t accesses_;
  unsigned line_bytes_;
  Buffer lines_;
  Buffer place_;  ///< of an access in the order by sets
  UseLinks links_, links_by_set_;
  ReuseSpace space_;
  const Buffer* distances_ = nullptr;
  bool in_place_ = false;
};

}  // namespace rayreplay::kernels
