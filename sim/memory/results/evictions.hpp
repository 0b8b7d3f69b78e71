// The kinds of data that evicted the lines that an exact cache misses.
//
// Contract: a miss that is no first access of its line in this cache has one reason: the access that evicted the line
// before, named by its kind of data; or the line is there without all sectors (kSectorsMissing); or the cache never
// kept it, because only stores without allocation touched it (kNeverKept). The matrix counts misses by the kind of the
// access that misses and by this reason. Its sum is the cache's misses less its first accesses (`cold` of sums.hpp),
// and those of kNeverKept are `stored_only`. After an eviction the line stays evicted by that access until it is
// allocated again. O(1) a miss and an eviction; hits cost nothing. Memory: that of LineTable (4 bytes a line where line
// numbers are dense).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "sim/memory/data_kind.hpp"
#include "sim/memory/reuse/engines/line_table.hpp"

namespace rayreplay::memory {

inline constexpr std::size_t kSectorsMissing = kDataKinds;
inline constexpr std::size_t kNeverKept = kDataKinds + 1;
inline constexpr std::size_t kMissReasons = kDataKinds + 2;  ///< the kinds of data that evict, and those two

[[nodiscard]] constexpr std::string_view miss_reason_name(std::size_t reason) {
  return reason == kSectorsMissing ? "sectors-missing" : reason == kNeverKept ? "never-kept" : kDataKindNames[reason];
}

/// [kind that misses][reason]
using EvictionMatrix = std::array<std::array<std::uint64_t, kMissReasons>, kDataKinds>;

inline void merge(EvictionMatrix& into, const EvictionMatrix& other) {
  for (std::size_t kind = 0; kind < kDataKinds; ++kind) {
    for (std::size_t reason = 0; reason < kMissReasons; ++reason) {
      into[kind][reason] += other[kind][reason];
    }
  }
}

/// Of one cache. Misses and evictions come in the order of the cache's accesses; of an access that misses and evicts,
/// the miss comes first.
class EvictionLog {
 public:
  /// The line is not in the cache.
  void missed(std::uint64_t line, DataKind kind) {
    std::uint32_t& state = states_.at(line);
    if (state == kUntouched) {
      state = kTouched;
      return;
    }
    ++matrix_[static_cast<std::size_t>(kind)][state - 1];
  }
  /// The line is in the cache, but not all sectors.
  void missed_sectors(DataKind kind) {
    ++matrix_[static_cast<std::size_t>(kind)][kSectorsMissing];
  }
  /// `by`: the kind of the access that evicts the line.
  void evicted(std::uint64_t line, DataKind by) {
    states_.at(line) = 1 + static_cast<std::uint32_t>(by);
  }

  [[nodiscard]] const EvictionMatrix& matrix() const {
    return matrix_;
  }

 private:
  // A state is a reason plus 1: that of the line's next miss.
  static constexpr std::uint32_t kUntouched = 0;
  static constexpr std::uint32_t kTouched = 1 + static_cast<std::uint32_t>(kNeverKept);

  LineTable states_;
  EvictionMatrix matrix_{};
};

}  // namespace rayreplay::memory
