// Exact set-associative LRU caches with sectors and stores, on a device: one after the other over the same accesses.
//
// Contract: streams as in kernels/reuse/reuse.hpp, each with its own cache. Rules and counts are those of an exact Lru
// cache of sim/memory/caches/set_associative.hpp, with any write policy, with or without allocation of stores. Accesses
// are sorted by set (stable), once per number of sets; then a subgroup runs each set of each stream, ways over its
// lanes: O(ways / lanes) an access. Accesses to one set are sequential: many sets are fast, few are slow. At most
// `kExactSlots` ways a lane, and kMaxExactWays ways of all caches together.
//
// Device memory: `exact_bytes`; 22 bytes an access with lines of 32 bits, 26 with 64, 44 a set and stream, 12 to 16 a
// way of these. Errors: DeviceError.
#pragma once

#include <cstdint>

#include "kernels/device/growing.hpp"
#include "kernels/sort/radix_sort.hpp"

namespace rayreplay::kernels {

inline constexpr std::uint32_t kExactSlots = 8;  ///< ways of a lane
inline constexpr std::uint64_t kMaxExactWays = std::uint64_t{1} << 28U;
inline constexpr std::uint16_t kExactStore = 256;  ///< flag of a store, above the mask of sectors
/// Counts of each set of a stream: hits, sector misses, evictions, sectors filled, sectors written; 64 bits each.
inline constexpr std::size_t kExactCounts = 5;

/// Lanes of the subgroups in use.
[[nodiscard]] std::uint32_t exact_lanes(const Device& device);
[[nodiscard]] std::uint64_t exact_bytes(std::uint64_t accesses, unsigned line_bytes);

class ExactPasses {
 public:
  /// `line_bytes`: size of a given line number, 4 or 8. Below 2^30 accesses.
  ExactPasses(Device& device, std::uint64_t accesses, unsigned line_bytes);

  /// The caller writes the lines, less `low`, and a 16-bit word per access: sectors and kExactStore.
  [[nodiscard]] const Buffer& lines() const {
    return lines_;
  }
  [[nodiscard]] const Buffer& flags() const {
    return flags_;
  }

  /// Sorts by line mod sets. `begins`: of streams. Waits for the stream.
  void order_by_sets(Stream& stream, std::uint64_t sets, std::uint64_t low, const Buffer& begins,
                     std::uint32_t streams);
  /// After `order_by_sets`. Counts of set s of stream t start at entry kExactCounts · (s · streams + t). The buffer
  /// belongs to this object.
  [[nodiscard]] const Buffer& run(Stream& stream, std::uint32_t ways, bool write_back, bool allocate);
  [[nodiscard]] std::uint64_t sequences() const {
    return sequences_;
  }

 private:
  Device* device_;
  std::uint64_t accesses_;
  unsigned line_bytes_;
  Buffer lines_, flags_;
  Buffer keys_, other_keys_, index_, other_index_;
  Buffer* order_ = nullptr;
  Sorter sorter_;
  Growing sequence_begins_{"beginnings of sets"}, longest_there_{"the longest set"}, counts_{"counts of sets"};
  Growing tags_{"tags"}, states_{"states of ways"};
  std::uint64_t sequences_ = 0;
  std::uint32_t longest_ = 0;
};

}  // namespace rayreplay::kernels
