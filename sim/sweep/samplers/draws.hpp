// Shared parts of drawing samplers: parameters, permutations, and the limit of rejected draws. Internal to this folder.
//
// Contract: results depend on seed and index alone and are equal on every machine.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/sweep/samplers/sampler.hpp"

namespace rayreplay::sweep {

class DrawingSampler : public Sampler {
 public:
  [[nodiscard]] std::uint64_t most_points(const Space& /*space*/) const override {
    return count_;
  }

 protected:
  /// The values of count_parameter() and seed_parameter().
  explicit DrawingSampler(const Parameters& parameters);
  /// Number of draws, rejected ones included, before `too_few`.
  [[nodiscard]] std::uint64_t most_draws() const;
  /// Usage: the conditions reject nearly every draw; `taken` of `draws` were accepted.
  [[noreturn]] void too_few(const char* sampler, std::uint64_t taken, std::uint64_t draws) const;

  std::uint64_t count_;
  std::uint64_t seed_;
};

[[nodiscard]] Parameter count_parameter();
[[nodiscard]] Parameter seed_parameter();

/// A permutation of 0 … size − 1: sorted by 64 random bits each, ties by index.
[[nodiscard]] std::vector<std::uint32_t> permutation(std::uint64_t seed, std::uint64_t size);

}  // namespace rayreplay::sweep
