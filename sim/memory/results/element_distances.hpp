// Reuse distances by element.
//
// Contract: over requests, as the sums by element are: a request has the distances of its transaction's accesses, one
// at the L1 and one for each L2 access (none at a missing level). Requests without an element count for kNoElement, so
// that the rows' sum is that of all requests, by level and octave. O(requests). Memory: 560 bytes an element touched
// (in pages of 64), and 8 bytes for 64 others.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "sim/memory/results/sums.hpp"
#include "sim/memory/reuse/octaves.hpp"
#include "sim/memory/streams/transactions.hpp"

namespace rayreplay::memory {

/// Requests of one element at one level, of one octave of distances. Rows ascend by element (kNoElement last), level,
/// slot; rows without a request are left out.
struct ElementDistances {
  std::uint32_t element = 0;
  std::uint8_t level = 0;
  std::uint8_t slot = 0;  ///< octaves.hpp
  std::uint64_t requests = 0;

  bool operator==(const ElementDistances&) const = default;
};

/// Distances of a piece of the stream.
struct PieceDistances {
  std::span<const std::uint32_t> l1;        ///< by transaction; empty: no L1
  std::span<const std::uint32_t> l2_begin;  ///< by transaction, and the end: its rows of `l2`
  std::span<const std::uint32_t> l2;        ///< by L2 access; empty: no L2
};

class ElementDistanceTable {
 public:
  explicit ElementDistanceTable(std::uint32_t elements) : elements_(elements), pages_(elements / kPage + 1) {}
  /// Internal for unknown elements.
  void add(std::span<const Transaction> transactions, std::span<const Request> requests,
           const PieceDistances& distances);
  [[nodiscard]] std::vector<ElementDistances> rows() const;
  /// By level: the sum over all requests.
  [[nodiscard]] const std::array<OctaveCounts, kLevels>& all() const {
    return all_;
  }

 private:
  static constexpr std::size_t kPage = 64;
  using Counts = std::array<OctaveCounts, kLevels>;
  using Page = std::array<Counts, kPage>;

  std::uint32_t elements_;
  std::vector<std::unique_ptr<Page>> pages_;  ///< null: untouched page
  Counts none_{};                             ///< of kNoElement
  Counts all_{};
};

}  // namespace rayreplay::memory
