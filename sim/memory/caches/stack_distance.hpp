// Stack distance cache model: hit probability from the reuse distance alone (MODELS.md §11).
//
// Contract: p(D) = Σ_{a<A} C(D,a) (A/B)^a (1−A/B)^{D−a}: the probability that fewer than A of D other lines fell into
// the line's set, with all B/A sets equally likely. 1 for D < A, 0 for D = ∞; A = B: 1 for D < B, else 0. Valid for
// every D below 2^32 − 1. The table holds p in fixed point (caches/cache_model.hpp), with an error of at most one unit,
// from D = A until p stays below half a unit: a look-up is one load. A recurrence builds it, one step a distance: with
// b(D) = C(D,A−1) (A/B)^{A−1} (1−A/B)^{D−A+1}, p(D+1) = p(D) − A/B · b(D) and b(D+1) = b(D) (1−A/B) (D+1)/(D+2−A). The
// first b may underflow a double, so its exponent is stored separately. Memory 4 bytes a distance, O(B log) of them.
// Source: Agarwal, Hennessy, Horowitz, ACM TOCS 1989; Arafa et al., PPT-GPU-Mem, ICS 2020.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/memory/caches/cache_model.hpp"

namespace rayreplay::memory {

/// The sum of logarithmic terms in long double, for tests and single values; absolute error below 1e-12. `ways` in 1 …
/// `lines`; `distance` may be kInfinite. O(ways).
[[nodiscard]] double stack_distance_hit(std::uint32_t distance, std::uint64_t ways, std::uint64_t lines);

class StackDistanceTable {
 public:
  /// `ways` in 1 … `lines`.
  StackDistanceTable(std::uint64_t ways, std::uint64_t lines);
  /// Fixed point; `distance` may be kInfinite.
  [[nodiscard]] std::uint32_t hit(std::uint32_t distance) const {
    if (distance < ways_) {
      return kOne;
    }
    return distance - ways_ < table_.size() ? table_[distance - ways_] : 0;
  }
  /// Number of table entries.
  [[nodiscard]] std::size_t size() const {
    return table_.size();
  }

 private:
  std::uint32_t ways_ = 1;
  std::vector<std::uint32_t> table_;  ///< from D = ways_ on
};

}  // namespace rayreplay::memory
