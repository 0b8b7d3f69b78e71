// Samplers: which points of a sweep's space become configurations, and in which order.
//
// Contract: the space is a product of factors; a factor with a size has that many choices, one of size 0 is continuous
// and takes a number from [0, 1), which its axis maps to its range. `sample` calls `offer` with one point after another
// until it is done or `offer` says that the plan is full; `offer` answers whether the point was taken (exclusions and
// conditions may drop it). The same space, parameters and answers give the same points on every machine: random numbers
// come from base/split_mix.hpp and whole-number arithmetic. `most_points` bounds how many points are taken. Errors:
// Usage. To add one: a file in this folder with contract, parameters, function, registration.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/registry.hpp"

namespace rayreplay::sweep {

/// By factor: the choice, and the number of a continuous one; the other entry is 0.
struct Point {
  std::vector<std::uint32_t> choice;
  std::vector<double> number;
};

struct Space {
  std::vector<std::uint64_t> sizes;     ///< by factor; 0: continuous
  std::vector<std::uint64_t> wholes{};  ///< by factor: how many whole numbers a continuous one has; 0 or empty: any
  /// What a continuous factor makes of a number from [0, 1); may be empty: the number itself.
  std::function<double(std::size_t factor, double share)> value{};

  /// Points of the discrete factors: 2^64 − 1 where there are more.
  [[nodiscard]] std::uint64_t discrete_points() const;
  /// Different points of all factors: 2^64 − 1 where there are more, or where a factor takes any number.
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
  /// Whether factors may be continuous.
  [[nodiscard]] virtual bool draws_numbers() const {
    return true;
  }
  [[nodiscard]] virtual std::uint64_t most_points(const Space& space) const = 0;
  virtual void sample(const Space& space, const Offer& offer) const = 0;
};

using Samplers = Registry<Sampler>;

/// More runs than this are not planned (plan/plan.hpp).
inline constexpr std::uint64_t kMostRuns = 10'000'000;

}  // namespace rayreplay::sweep
