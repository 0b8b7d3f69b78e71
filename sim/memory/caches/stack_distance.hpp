// Stack distance cache model: probability of a hit from the reuse distance alone (MODELS.md §11).
//
// Contract: p(D) = Σ_{a<A} C(D,a) (A/B)^a (1−A/B)^{D−a}: the probability that fewer than A of D other lines fell into
// the line's set, if each of B/A sets is as likely. 1 for D < A, 0 for D = ∞; A = B: 1 for D < B, else 0. Sound for
// every D below 2^32 − 1: the sum is carried as logarithms, relative error below 1e-9. The table holds p in fixed point
// (caches/cache_model.hpp) for every D until it stays below half a unit, so that a look-up is one load; memory 4 bytes
// a distance, O(B log) of them. Source: Agarwal, Hennessy, Horowitz, ACM TOCS 1989; Arafa et al., PPT-GPU-Mem, ICS
// 2020.
#pragma once

#include <cstdint>
#include <vector>

namespace rayreplay::memory {

/// Slow and obvious in long double: for tests and single values. A in 1 … B.
[[nodiscard]] double stack_distance_hit(std::uint64_t distance, std::uint64_t ways, std::uint64_t lines);

class StackDistanceTable {
 public:
  StackDistanceTable(std::uint64_t ways, std::uint64_t lines);
  /// Fixed point; `distance` may be kInfinite.
  [[nodiscard]] std::uint32_t hit(std::uint32_t distance) const {
    return distance < table_.size() ? table_[distance] : 0;
  }
  [[nodiscard]] std::size_t size() const {
    return table_.size();
  }

 private:
  std::vector<std::uint32_t> table_;
};

}  // namespace rayreplay::memory
