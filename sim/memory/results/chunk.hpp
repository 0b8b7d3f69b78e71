// A piece of a stream of transactions on its way through a hierarchy. Internal to this room.
//
// Contract: a chunk lies in one window. Its L1 accesses are sorted by SM, in order within each; what goes down is in
// the order of the transactions. Several transactions are worked on together so that SMs run side by side; a device
// gets more of them at a time.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/memory/caches/cache_model.hpp"
#include "sim/memory/results/line_split.hpp"
#include "sim/memory/results/request_tables.hpp"
#include "sim/memory/reuse/reuse_stacks.hpp"
#include "sim/memory/streams/transactions.hpp"

namespace rayreplay::memory {

/// Transactions of a chunk.
inline constexpr std::size_t kChunk = std::size_t{1} << 17U;
/// Of a device: live lines are sent again with every chunk. Requests are up to 64 a transaction.
inline constexpr std::size_t kDeviceChunk = std::size_t{1} << 23U;
inline constexpr std::size_t kDeviceChunkWithRequests = std::size_t{1} << 20U;

struct Chunk {
  std::vector<Transaction> transactions;
  std::vector<Request> requests;
  std::uint64_t first_request = 0;
  std::vector<TransactionOutcome> outcomes;  ///< where elements or pixels are wanted
  // By SM: an SM's transactions are rows [sm_begin[sm], sm_begin[sm + 1]), in order.
  std::vector<std::uint32_t> sm_begin;
  std::vector<std::uint32_t> order;  ///< which transaction it is
  std::vector<LineAccess> l1;
  std::vector<DataKind> kinds;
  std::vector<std::uint32_t> l1_distances;  ///< by row, where a device gives them
  // What goes to the L2: rows [l2_begin[i], l2_begin[i + 1]) are transaction i's.
  std::vector<std::uint32_t> l2_begin;
  std::vector<LineAccess> l2;
  std::vector<std::uint32_t> l2_distances;

  /// Which transactions are an SM's.
  [[nodiscard]] std::span<const std::uint32_t> rows_of(std::size_t sm) const {
    return std::span(order).subspan(sm_begin[sm], sm_begin[sm + 1] - sm_begin[sm]);
  }
};

/// From the transactions to the rows of the L1s; `to_l1`: from the stream's lines to the L1's, which are the same.
void sort_by_sm(Chunk& chunk, std::uint32_t sms, const LineSplit& to_l1);

/// From numbers to where they begin.
void sum_counts(std::vector<std::uint32_t>& begin);

/// Reuse distances of the caches of a level, from a device.
class ChunkDistances {
 public:
  ChunkDistances(Accelerator* accelerator, std::size_t caches) : stacks_(accelerator, caches) {}

  /// Of accesses [begins[c], begins[c + 1]) of cache c.
  void find(const std::vector<LineAccess>& accesses, const std::vector<std::uint64_t>& begins,
            std::vector<std::uint32_t>& distances);
  [[nodiscard]] const std::vector<ReuseHistogram>& histograms() const {
    return stacks_.histograms();
  }

 private:
  ReuseStacks stacks_;
  std::vector<std::uint64_t> lines_;
};

}  // namespace rayreplay::memory
