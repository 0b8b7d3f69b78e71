// A piece of a stream of transactions in the hierarchy. Internal to this folder.
//
// Contract: a chunk lies in one window. Its L1 accesses are sorted by SM, in order within each SM; requests to the L2
// are in the order of the transactions. Chunks hold many transactions so that SMs run in parallel; chunks for a device
// are larger.
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
/// For a device: live lines are uploaded again with every chunk. Requests are up to 64 a transaction.
inline constexpr std::size_t kDeviceChunk = std::size_t{1} << 23U;
inline constexpr std::size_t kDeviceChunkWithRequests = std::size_t{1} << 20U;

struct Chunk {
  std::vector<Transaction> transactions;
  std::vector<Request> requests;
  std::uint64_t first_request = 0;
  std::vector<TransactionOutcome> outcomes;  ///< if elements or pixels are wanted
  // By SM: an SM's transactions are rows [sm_begin[sm], sm_begin[sm + 1]), in order.
  std::vector<std::uint32_t> sm_begin;
  std::vector<std::uint32_t> order;  ///< index of the transaction
  std::vector<LineAccess> l1;
  std::vector<DataKind> kinds;
  std::vector<std::uint32_t> l1_distances;  ///< by row, if a device computes them
  // L2 accesses: rows [l2_begin[i], l2_begin[i + 1]) belong to transaction i.
  std::vector<std::uint32_t> l2_begin;
  std::vector<LineAccess> l2;
  std::vector<std::uint32_t> l2_distances;
  // For distances by element, whoever computes them:
  std::vector<std::uint32_t> l1_distance_of;  ///< by transaction

  /// Sorts the transactions by SM.
  [[nodiscard]] std::span<const std::uint32_t> rows_of(std::size_t sm) const {
    return std::span(order).subspan(sm_begin[sm], sm_begin[sm + 1] - sm_begin[sm]);
  }
};

/// Converts transactions to L1 accesses; `to_l1`: from the stream's sectors to the L1's (lines are equal).
void sort_by_sm(Chunk& chunk, std::uint32_t sms, const LineSplit& to_l1);

/// Exclusive prefix sum of counts.
void sum_counts(std::vector<std::uint32_t>& begin);

/// Reuse distances of a level's caches, from a device.
class ChunkDistances {
 public:
  ChunkDistances(Accelerator* accelerator, std::size_t caches) : stacks_(accelerator, caches) {}

  /// Distances of accesses [begins[c], begins[c + 1]) of cache c.
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
