// A search for values of several numbers at which a speed-up has the other sign.
//
// Contract: coordinate search with combined steps (Hooke and Jeeves 1961, on the values given). A round times each
// number at each of its other values alone, then the steps that helped together: the best value of the two numbers that
// helped most, of the four, the eight, … and of all. The best of these points is the start of the next round. The
// search ends at a round that brings nothing, after `rounds`, or as soon as a batch of at most kMaxAtOnce
// (sensitivity.hpp) points has the other sign; so it may miss one. `reduce` then gives back as many numbers as it can
// while the sign stays: it halves the list of those that matter least, then tries each of the rest. Deterministic. A
// round takes at most (values
// + log2(numbers)) points; `reduce` at most numbers + log2(numbers).
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
  bool upward = false;  ///< for speed-ups that gain, from one that does not
  int rounds = 1;
  std::function<bool(double speed_up)> gains{};
};

/// The kept points in the order found; empty if nothing was nearer to the other sign than the start. The last one is
/// the nearest, and has the other sign if one was found.
[[nodiscard]] std::vector<JointSample> search_sign(const SignSearch& search, const JointSample& start,
                                                   std::span<const SearchedNumber> numbers, const TimePoints& time);

/// `found` with the values of `now` wherever the sign does not need others. `order`: numbers that may be given back,
/// from the one that matters least.
[[nodiscard]] JointSample reduce(const SignSearch& search, JointSample found, std::span<const double> now,
                                 std::span<const std::size_t> order, const TimePoints& time);

}  // namespace rayreplay::experiment
