// Sobol': a sequence of points that fill the space evenly on all axes, for any count.
//
// Contract: point i of the sequence of Sobol' (1967) with the direction numbers of Joe and Kuo (SIAM J. Sci. Comput.
// 30, 2008, table new-joe-kuo-6), one dimension a factor, moved by a digital shift drawn from the seed. Each of 2^k
// equal parts of every axis holds one of the first 2^k points. A factor of listed values takes the value in whose equal
// part of [0, 1) the number lies. Pairs of axes beyond the first few need some thousand points until they are even.
// Rejected points are replaced, up to 100 · count + 100,000 draws (then Usage). A larger count with the same seed
// begins with the same points. Lists may give a point twice. At most kMaxDimensions factors. O(points · factors).
#include <algorithm>
#include <array>
#include <bit>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/split_mix.hpp"
#include "sim/sweep/samplers/draws.hpp"

namespace rayreplay::sweep {
namespace {

constexpr unsigned kBits = 32;

/// A primitive polynomial over GF(2), its inner coefficients as bits, and the first direction numbers.
struct Polynomial {
  unsigned degree;
  std::uint32_t inner;
  std::array<std::uint32_t, 7> first;
};
constexpr std::array kPolynomials = {
    Polynomial{1, 0, {1}},
    Polynomial{2, 1, {1, 3}},
    Polynomial{3, 1, {1, 3, 1}},
    Polynomial{3, 2, {1, 1, 1}},
    Polynomial{4, 1, {1, 1, 3, 3}},
    Polynomial{4, 4, {1, 3, 5, 13}},
    Polynomial{5, 2, {1, 1, 5, 5, 17}},
    Polynomial{5, 4, {1, 1, 5, 5, 5}},
    Polynomial{5, 7, {1, 1, 7, 11, 19}},
    Polynomial{5, 11, {1, 1, 5, 1, 1}},
    Polynomial{5, 13, {1, 1, 1, 3, 11}},
    Polynomial{5, 14, {1, 3, 5, 5, 31}},
    Polynomial{6, 1, {1, 3, 3, 9, 7, 49}},
    Polynomial{6, 13, {1, 1, 1, 15, 21, 21}},
    Polynomial{6, 16, {1, 3, 1, 13, 27, 49}},
    Polynomial{6, 19, {1, 1, 1, 15, 7, 5}},
    Polynomial{6, 22, {1, 3, 1, 15, 13, 25}},
    Polynomial{6, 25, {1, 1, 5, 5, 19, 61}},
    Polynomial{7, 1, {1, 3, 7, 11, 23, 15, 103}},
};
/// The first dimension has no polynomial.
constexpr std::size_t kMaxDimensions = kPolynomials.size() + 1;

using Directions = std::array<std::uint32_t, kBits>;

Directions directions_of(std::size_t dimension) {
  Directions directions{};
  if (dimension == 0) {
    for (unsigned i = 0; i < kBits; ++i) {
      directions.at(i) = std::uint32_t{1} << (kBits - 1 - i);
    }
    return directions;
  }
  const Polynomial& polynomial = kPolynomials.at(dimension - 1);
  const unsigned degree = polynomial.degree;
  for (unsigned i = 0; i < kBits; ++i) {
    if (i < degree) {
      directions.at(i) = polynomial.first.at(i) << (kBits - 1 - i);
      continue;
    }
    std::uint32_t value = directions.at(i - degree) ^ (directions.at(i - degree) >> degree);
    for (unsigned k = 1; k < degree; ++k) {
      value ^= ((polynomial.inner >> (degree - 1 - k)) & 1U) * directions.at(i - k);
    }
    directions.at(i) = value;
  }
  return directions;
}

class Sobol final : public DrawingSampler {
 public:
  explicit Sobol(const Parameters& parameters) : DrawingSampler(parameters) {}

  void sample(const Space& space, const Offer& offer) const override {
    const std::size_t factors = space.sizes.size();
    if (factors > kMaxDimensions) {
      throw Error(ErrorKind::Usage,
                  {"the sweep has too many axes for the sampler", "sampler 'sobol'", fmt::format("{}", factors),
                   fmt::format("at most {}", kMaxDimensions), "sampler = \"latin-hypercube\" takes any number"});
    }
    std::vector<Directions> directions;
    std::vector<std::uint32_t> state;
    for (std::size_t f = 0; f < factors; ++f) {
      directions.push_back(directions_of(f));
      state.push_back(static_cast<std::uint32_t>(split_mix(seed_, f) >> kBits));
    }
    Point point = space.first_point();
    const std::uint64_t most = std::min(most_draws(), std::uint64_t{1} << (kBits - 1));
    std::uint64_t taken = 0;
    for (std::uint64_t i = 0; i < most; ++i) {
      for (std::size_t f = 0; f < factors; ++f) {
        constexpr double kStep = 0x1p-32;
        if (space.sizes[f] == 0) {
          point.number[f] = state[f] * kStep;
        } else {
          point.choice[f] = static_cast<std::uint32_t>((std::uint64_t{state[f]} * space.sizes[f]) >> kBits);
        }
        // The next point in Gray code order changes one direction number.
        state[f] ^= directions[f].at(static_cast<std::size_t>(std::countr_one(i)));
      }
      taken += offer(point) ? 1U : 0U;
      if (taken == count_) {
        return;
      }
    }
    too_few("sobol", taken, most);
  }
};

const Samplers::Registrar kRegistrar(
    {.kind = {},
     .name = "sobol",
     .summary = "A sequence that fills the space evenly, on all axes together",
     .text =
         "A low-discrepancy sequence, shifted by the seed: means and sensitivities converge faster than with random "
         "points. Best with a power of two for `count`, and with some thousand points for more than ten axes. It can "
         "be "
         "continued with a larger count. Points that conditions drop are replaced by further ones.",
     .source = "Sobol' 1967; direction numbers of Joe and Kuo, \"Constructing Sobol Sequences with Better "
               "Two-Dimensional Projections\", SIAM Journal on Scientific Computing 30 (2008)",
     .parameters = {count_parameter(), seed_parameter()}},
    [](const Parameters& parameters) { return std::make_unique<Sobol>(parameters); });

}  // namespace
}  // namespace rayreplay::sweep
