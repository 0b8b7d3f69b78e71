// How a program uses the allocations of a memory trace: what their labels can be guessed from (label_guess.hpp).
//
// Contract: counts over accesses of lanes, allocation by allocation, in the order of the records. A *step* is a lane's
// way from one access to its next (of the same warp and SM). A *visit* begins with a step from another allocation, or
// with the lane's first access. A *piece* is a sequence of accesses of a lane, each of which begins where the one
// before ended: a record that several loads read is one piece. Accesses outside every allocation are not counted, and
// break steps and pieces. Memory: the state of active warps (at most kWarps, after which all are forgotten: steps are
// lost, counts are not); of allocations with stores a bit for each byte stored, and of those with 4-byte stores 4 bytes
// for each word stored, both at most for the first kMarkedBytes (beyond them stores count as repeated, and loads as
// those of the warp that stored). O(1) a lane.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

#include "capture/import/memory_trace.hpp"
#include "sim/memory/allocations.hpp"

namespace rayreplay::experiment {

struct AllocationUse {
  std::uint64_t loads = 0, stores = 0;
  std::uint64_t repeated_stores = 0;                ///< whose first byte was stored before
  std::map<std::uint32_t, std::uint64_t> sizes;     ///< accesses by their bytes
  std::map<std::uint64_t, std::uint64_t> pieces;    ///< pieces by their bytes
  std::uint64_t own_lane = 0;                       ///< accesses of 4 bytes at (word · warp size + lane) · 4
  std::uint64_t followed_loads = 0;                 ///< steps from a load here to a load here
  std::uint64_t word_loads = 0;                     ///< of 4 bytes that were stored before
  std::uint64_t moved_loads = 0;                    ///< … by another warp
  std::uint64_t entered = 0;                        ///< steps from elsewhere, and first accesses of lanes
  std::map<std::uint32_t, std::uint64_t> from, to;  ///< steps from and to other allocations

  [[nodiscard]] std::uint64_t accesses() const {
    return loads + stores;
  }
};

class AllocationTraffic {
 public:
  static constexpr std::size_t kWarps = 1U << 16U;
  static constexpr std::uint64_t kMarkedBytes = std::uint64_t{1} << 28U;

  /// The allocations must outlive this object.
  AllocationTraffic(const memory::Allocations& allocations, std::uint32_t warp_size);
  void add(const import::RecordBlock& records);
  /// After the last record: one entry an allocation.
  [[nodiscard]] std::vector<AllocationUse> finish();

 private:
  struct Lane {
    std::uint32_t allocation = memory::kNoAllocation;
    bool store = false;
    std::uint64_t begin = 0, end = 0;  ///< of the piece
  };
  using Warp = std::vector<Lane>;

  struct Access {
    std::uint32_t lane, warp;  ///< warp: a number for SM and warp, never 0
    std::uint64_t address;
    std::uint32_t bytes;
    bool store;
  };

  void add_lane(Lane& lane, const Access& access);
  void mark(std::uint32_t index, std::uint64_t offset, const Access& access);
  void end_piece(const Lane& lane);
  void forget();

  const memory::Allocations* allocations_;
  std::uint32_t warp_size_;
  memory::Allocations::Cursor cursor_;
  std::vector<AllocationUse> uses_;
  std::vector<std::vector<std::uint64_t>> stored_;  ///< by allocation: bits of bytes
  std::vector<std::vector<std::uint32_t>> storer_;  ///< by allocation and word: the warp that stored it last; 0: none
  std::unordered_map<std::uint64_t, Warp> warps_;
};

}  // namespace rayreplay::experiment
