// Exact set-associative LRU caches with sectors and stores, on a device: one after the other over the same accesses.
//
// Contract: streams as in kernels/reuse/reuse.hpp, each with a cache of its own. The rules are those of
// sim/memory/caches/set_associative.hpp for Lru with either way to write, stores with or without allocation: counts are
// those of an exact cache there. Accesses are brought into the order of sets (stable sort), as often as there are
// numbers of sets; then each set of each stream is a subgroup's, ways over its lanes: O(ways / lanes) an access, and
// accesses to one set wait for one another, so that many sets are fast and few are slow. At most `kExactSlots` ways a
// lane, and kMostExactWays ways of all caches together.
//
// Device memory: `exact_bytes`; 22 bytes an access with lines of 32 bits, 26 with 64, 44 a set and stream, 12 to 16 a
// way of these. Errors: DeviceError.
#pragma once

#include <cstdint>

#include "kernels/device/growing.hpp"
#include "kernels/sort/radix_sort.hpp"

namespace rayreplay::kernels {

inline constexpr std::uint32_t kExactSlots = 8;  ///< ways of a lane
inline constexpr std::uint64_t kMostExactWays = std::uint64_t{1} << 28U;
inline constexpr std::uint16_t kExactStore = 256;  ///< flag of a store, above the mask of sectors
/// Of a set of a stream: hits, sector misses, evictions, sectors filled, sectors written; 64 bits each.
inline constexpr std::size_t kExactCounts = 5;

/// Lanes of the subgroups that it runs in.
[[nodiscard]] std::uint32_t exact_lanes(const Device& device);
[[nodiscard]] std::uint64_t exact_bytes(std::uint64_t accesses, unsigned line_bytes);

class ExactPasses {
 public:
  /// `line_bytes`: of the lines as they are given, 4 or 8. Below 2^30 accesses.
  ExactPasses(Device& device, std::uint64_t accesses, unsigned line_bytes);

  /// To be filled: the lines, less `low`; and a 16-bit word for each access, sectors and kExactStore.
  [[nodiscard]] const Buffer& lines() const {
    return lines_;
  }
  [[nodiscard]] const Buffer& flags() const {
    return flags_;
  }

  /// By line mod sets. `begins`: of streams. Waits for the stream.
  void order_by_sets(Stream& stream, std::uint64_t sets, std::uint64_t low, const Buffer& begins,
                     std::uint32_t streams);
  /// After it: the counts of set s of stream t are entries kExactCounts · (s · streams + t) and on. The buffer is this
  /// object's.
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
