// Samplers: which points of a sweep's space become configurations, and in which order.
//
// Contract: the space is a product of factors. A factor with size n > 0 has n choices. A factor of size 0 is
// continuous: it takes a number from [0, 1), which its axis maps to its range. `sample` calls `offer` for one point
// after another until it has no more or `offer` reports a full plan. `offer` says whether the point was accepted
// (exclusions and conditions may reject it). The same space, parameters and answers give the same points on every
// machine: random numbers come from base/split_mix.hpp and whole-number arithmetic. `most_points` limits the accepted
// points. Errors: Usage. To add one: a file in this folder with contract, parameters, function, registration.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/registry.hpp"

namespace rayreplay::sweep {

/// By factor: its choice, or its number if it is continuous; the other entry is 0.
struct Point {
  std::vector<std::uint32_t> choice;
  std::vector<double> number;
};

struct Space {
  std::vector<std::uint64_t> sizes;  ///< by factor; 0: continuous
  /// By factor: how many whole values a continuous factor has; 0 or empty: any number.
  std::vector<std::uint64_t> wholes{};
  /// Maps a number from [0, 1) to a continuous factor's value; empty: the identity.
  std::function<double(std::size_t factor, double share)> value{};

  /// Points of the discrete factors; 2^64 − 1 on overflow.
  [[nodiscard]] std::uint64_t discrete_points() const;
  /// Distinct points of all factors; 2^64 − 1 on overflow, or if a factor takes any number.
  [[nodiscard]] std::uint64_t different_points() const;
  [[nodiscard]] bool has_continuous() const;
  /// The first choice of every list, 0 of every continuous factor.
  [[nodiscard]] Point first_point() const;
};

class Sampler {
 public:
  static constexpr const char* kModelKind = "sampler";
  using Offer = std::function<bool(const Point&)>;

  virtual ~Sampler() = default;
  /// True if factors may be continuous.
  [[nodiscard]] virtual bool draws_numbers() const {
    return true;
  }
  [[nodiscard]] virtual std::uint64_t most_points(const Space& space) const = 0;
  virtual void sample(const Space& space, const Offer& offer) const = 0;
};

using Samplers = Registry<Sampler>;

/// Upper limit of the runs of a plan (plan/plan.hpp).
inline constexpr std::uint64_t kMaxRuns = 10'000'000;

}  // namespace rayreplay::sweep
