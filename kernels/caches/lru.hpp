// Hits of many set-associative LRU caches over the same streams, on a device.
//
// Contract: streams as in kernels/reuse/reuse.hpp, each with caches of its own (an L1 for each SM). Every access uses
// its line, and takes it into the cache if it is not there. A cache of s sets and w ways has the line of an access if
// fewer than w other lines of its set were used since its last use: the reuse distance within the stream of the set. So
// one pass for each number of sets gives all numbers of ways (inclusion: Mattson et al., IBM Systems Journal 1970), and
// a pass costs the same whatever the sets: accesses are brought into the order of sets (stable sort by set), their
// links to the next use, which were found once, are renamed, and distances are counted as in kernels/reuse.
//
// Device memory: `lru_bytes`; 33 bytes an access with lines of 32 bits (32 million accesses a GiB), 45 with 64.
// Errors: DeviceError.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/reuse/reuse.hpp"

namespace rayreplay::kernels {

inline constexpr std::uint32_t kMostLruWays = 64;  ///< different numbers of ways that are counted at a time
inline constexpr std::uint64_t kMostLruSets = (std::uint64_t{1} << 31U) - 1;

[[nodiscard]] std::uint64_t lru_bytes(std::uint64_t accesses, unsigned line_bytes);

class LruPasses {
 public:
  /// `line_bytes`: of the lines as they are given, 4 or 8.
  LruPasses(Device& device, std::uint64_t accesses, unsigned line_bytes);

  /// To be filled before `link`: the lines, less `low`.
  [[nodiscard]] const Buffer& lines() const {
    return lines_;
  }
  /// Once. `end_bit`: bits of lines from it on are the same in all; `begins`: of streams, as of link_uses.
  void link(Stream& stream, unsigned end_bit, const Buffer& begins, std::uint32_t streams);

  /// Distances within sets. `low`: what was taken off the lines.
  void count_sets(Stream& stream, std::uint64_t sets, std::uint64_t low);
  /// After it, as often as wanted: adds to rows of `counts` (kMostLruWays + 1 words each) how many accesses of a piece
  /// have as the first hit ways[i], in entry i; and those that have none, behind. `ways`: 32-bit words, ascending.
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
