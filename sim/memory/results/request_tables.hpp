// Sums by element and by pixel.
//
// Contract: `add` takes transactions with their requests in order; rows count as sums.hpp says. O(requests). Rows of
// elements are allocated in pages on first touch: untouched elements of a large allocation table cost 8 bytes for 4096.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "sim/memory/allocations.hpp"
#include "sim/memory/results/sums.hpp"
#include "sim/memory/streams/transactions.hpp"

namespace rayreplay::memory {

/// Cache results of a transaction.
struct TransactionOutcome {
  std::uint32_t l1_hit = 0;  ///< fixed point
  std::uint32_t l2_requests = 0;
  std::uint64_t l2_hits = 0;  ///< fixed point
  std::uint64_t fetched = 0;  ///< bytes from DRAM, fixed point
};

class ElementTable {
 public:
  explicit ElementTable(std::uint32_t elements)
      : elements_(elements), pages_((std::uint64_t{elements} + kPage - 1) / kPage) {}
  /// Internal for unknown elements. `first`: number of the first request.
  void add(std::span<const Transaction> transactions, std::span<const Request> requests,
           std::span<const TransactionOutcome> outcomes, std::uint64_t first);
  /// Rows touched since the last call, ascending; clears them.
  [[nodiscard]] std::vector<ElementRow> take(std::uint32_t window);

 private:
  static constexpr std::size_t kPage = 4096;
  using Page = std::array<RequestSums, kPage>;

  [[nodiscard]] RequestSums& row(std::uint32_t element) {
    std::unique_ptr<Page>& page = pages_[element / kPage];
    if (page == nullptr) {
      page = std::make_unique<Page>();
    }
    return (*page)[element % kPage];
  }

  std::uint32_t elements_;
  std::vector<std::unique_ptr<Page>> pages_;  ///< null: untouched page
  std::vector<std::uint32_t> touched_;        ///< in the order of first touch
};

class PixelTable {
 public:
  explicit PixelTable(std::uint64_t pixels) : rows_(pixels) {}
  /// Internal for unknown threads.
  void add(std::span<const Transaction> transactions, std::span<const Request> requests,
           std::span<const TransactionOutcome> outcomes, std::uint64_t first);
  [[nodiscard]] std::vector<PixelSums> finish();

 private:
  std::vector<PixelSums> rows_;  ///< bytes in units of 1 / kOneByte until the end
};

}  // namespace rayreplay::memory
