// A search for values of several numbers at which a speed-up has the other sign.
//
// Contract: coordinate search with combined steps (Hooke and Jeeves 1961, on the values given). A round first changes
// one number at a time, to each of its other values. Then it changes several at once, each to its best value: the two
// numbers that helped most, the four, the eight, … and all that helped. The best of these points is the start of the
// next round. The search ends at a round without a better point, after `rounds`, or after the first batch of points (at
// most kMaxAtOnce, sensitivity.hpp) of which one has the other sign. It may miss the other sign. `reduce` then sets
// numbers back to their present values while the sign stays changed: by halving, as many as it can of those that matter
// least, then each of the rest alone. Deterministic. A round takes at most values + log2(numbers) points, `reduce` at
// most numbers + log2(numbers).
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

namespace rayreplay::experiment {

/// Numbers varied together.
struct JointSample {
  std::vector<double> values;  ///< by quantity
  double speed_up = 0;
};

/// Sets the speed-ups of some points, perhaps in parallel.
using TimePoints = std::function<void(std::span<JointSample> points)>;

struct SearchedNumber {
  std::size_t index = 0;       ///< of JointSample::values
  std::vector<double> values;  ///< to try; the start's among them
};

struct SignSearch {
  bool upward = false;  ///< the start does not gain, and points that gain are searched for
  int rounds = 1;
  /// Rounds after the first leave out the numbers that mattered least in the round before, while their moves, added in
  /// logarithms of the speed-up, are at most this share of the way to the other sign.
  double left_out = 0;
  std::function<bool(double speed_up)> gains{};
};

/// The kept points in the order found; empty if nothing was nearer to the other sign than the start. The last one is
/// the nearest, and has the other sign if one was found.
[[nodiscard]] std::vector<JointSample> search_sign(const SignSearch& search, const JointSample& start,
                                                   std::span<const SearchedNumber> numbers, const TimePoints& time);

/// `found` with the values of `now` wherever the other sign does not need `found`'s. `order`: numbers that may be set
/// back, from the one that matters least.
[[nodiscard]] JointSample reduce(const SignSearch& search, JointSample found, std::span<const double> now,
                                 std::span<const std::size_t> order, const TimePoints& time);

}  // namespace rayreplay::experiment
