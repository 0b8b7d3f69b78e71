// The set of a line: line mod sets, for any number of sets, mostly without a division.
//
// Contract: tag = ⌊line / sets⌋, set = line mod sets. Powers of two use shifts. Otherwise the quotient is the high half
// of line · ⌈2^64 / sets⌉, which is exact while line · sets < 2^64 (Granlund, Montgomery, PLDI 1994); larger lines are
// divided.
#pragma once

#include <bit>
#include <cstdint>
#include <limits>

namespace rayreplay::memory {

/// Set and tag of a line.
struct CachePlace {
  std::uint64_t tag = 0;
  std::uint64_t set = 0;
};

class SetIndex {
 public:
  explicit SetIndex(std::uint64_t sets)
      : sets_(sets),
        shift_(static_cast<std::uint32_t>(std::countr_zero(sets))),
        power_(std::has_single_bit(sets)),
        limit_(std::numeric_limits<std::uint64_t>::max() / sets),
        inverse_(limit_ + 1) {}

  [[nodiscard]] CachePlace place(std::uint64_t line) const {
    std::uint64_t tag = 0;
    if (power_) {
      tag = line >> shift_;
    } else if (line <= limit_) {
      tag = static_cast<std::uint64_t>((static_cast<Wide>(line) * inverse_) >> 64U);
    } else {
      tag = line / sets_;
    }
    return {tag, line - tag * sets_};
  }
  [[nodiscard]] std::uint64_t line(std::uint64_t tag, std::uint64_t set) const {
    return tag * sets_ + set;
  }
  [[nodiscard]] std::uint64_t sets() const {
    return sets_;
  }
  /// Lines up to this one have tags below 2^32 − 1.
  [[nodiscard]] std::uint64_t short_tag_limit() const {
    constexpr std::uint64_t kTags = 0xFFFF'FFFFU;
    return sets_ > limit_of(kTags) ? std::numeric_limits<std::uint64_t>::max() : kTags * sets_ - 1;
  }

 private:
  __extension__ using Wide = unsigned __int128;

  static constexpr std::uint64_t limit_of(std::uint64_t factor) {
    return std::numeric_limits<std::uint64_t>::max() / factor;
  }

  std::uint64_t sets_;
  std::uint32_t shift_;
  bool power_;
  std::uint64_t limit_;
  std::uint64_t inverse_;  ///< unused for powers of two
};

}  // namespace rayreplay::memory
