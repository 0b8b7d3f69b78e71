// Latin hypercube: few points, spread evenly over each axis (McKay, Beckman, Conover 1979).
//
// Contract: each axis of the `count` points is stratified. A continuous axis has one number in each of `count` equal
// parts of [0, 1). Each value of a list with k values occurs count / k times, rounded up or down; a random draw decides
// which are rounded up. With fewer points than values no value occurs twice, and the values are spread over the list. A
// permutation of each factor combines the strata. Rejected points are not replaced, because others would not fit the
// strata. Discrete axes may give a point twice. O(count · factors · log count).
#include <algorithm>
#include <vector>

#include "base/draws.hpp"
#include "base/split_mix.hpp"
#include "sim/sweep/samplers/draws.hpp"
#include "sim/sweep/samplers/sampler.hpp"

namespace rayreplay::sweep {
namespace {

class LatinHypercube final : public DrawingSampler {
 public:
  explicit LatinHypercube(const Parameters& parameters) : DrawingSampler(parameters) {}

  void sample(const Space& space, const Offer& offer) const override {
    const std::size_t factors = space.sizes.size();
    std::vector<std::vector<std::uint32_t>> choices(factors);
    std::vector<std::vector<double>> numbers(factors);
    for (std::size_t f = 0; f < factors; ++f) {
      const std::uint64_t seed = split_mix(seed_, f);
      const std::vector<std::uint32_t> stratum = permutation(split_mix(seed, 0), count_);
      if (space.sizes[f] == 0) {
        numbers[f] = spread_numbers(stratum, split_mix(seed, 1));
      } else {
        choices[f] = spread_choices(stratum, space.sizes[f], split_mix(seed, 1));
      }
    }
    Point point = space.first_point();
    for (std::uint64_t i = 0; i < count_; ++i) {
      for (std::size_t f = 0; f < factors; ++f) {
        if (space.sizes[f] == 0) {
          point.number[f] = numbers[f][i];
        } else {
          point.choice[f] = choices[f][i];
        }
      }
      offer(point);
    }
  }

 private:
  [[nodiscard]] std::vector<double> spread_numbers(const std::vector<std::uint32_t>& stratum,
                                                   std::uint64_t seed) const {
    // Rounding must not move a number to the upper border of its stratum, which belongs to the next one.
    constexpr double kBelowOne = 1 - 0x1p-20;
    std::vector<double> numbers(count_);
    for (std::uint64_t i = 0; i < count_; ++i) {
      const double inside = std::min(unit_number(split_mix(seed, i)), kBelowOne);
      numbers[i] = (static_cast<double>(stratum[i]) + inside) / static_cast<double>(count_);
    }
    return numbers;
  }

  [[nodiscard]] std::vector<std::uint32_t> spread_choices(const std::vector<std::uint32_t>& stratum, std::uint64_t size,
                                                          std::uint64_t seed) const {
    std::vector<std::uint32_t> choices(count_);
    if (count_ < size) {
      // The stratum holds several values: draws one of them.
      for (std::uint64_t i = 0; i < count_; ++i) {
        const std::uint64_t low = stratum[i] * size / count_;
        const std::uint64_t high = (stratum[i] + std::uint64_t{1}) * size / count_;
        choices[i] = static_cast<std::uint32_t>(low + bounded(split_mix(seed, i), high - low));
      }
      return choices;
    }
    const std::vector<std::uint32_t> value = permutation(seed, size);
    for (std::uint64_t i = 0; i < count_; ++i) {
      choices[i] = value[stratum[i] % size];
    }
    return choices;
  }
};

const Samplers::Registrar kRegistrar(
    {.kind = {},
     .name = "latin-hypercube",
     .summary = "Few configurations, spread evenly over every axis",
     .text = "Each axis by itself is divided evenly: a continuous range into `count` equal parts with one number in "
             "each, a list so that each of its values occurs equally often. Values of different axes are combined at "
             "random. Points that conditions drop are not replaced.",
     .source = "McKay, Beckman, Conover, \"A Comparison of Three Methods for Selecting Values of Input Variables in "
               "the Analysis of Output from a Computer Code\", Technometrics 21 (1979)",
     .parameters = {count_parameter(), seed_parameter()}},
    [](const Parameters& parameters) { return std::make_unique<LatinHypercube>(parameters); });

}  // namespace
}  // namespace rayreplay::sweep
