// What drawing samplers share: their parameters, permutations, and how long they go on where conditions drop much.
// Functions of seed and index alone, the same on every machine. Internal to this room.
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
  /// Of count_parameter() and seed_parameter().
  explicit DrawingSampler(const Parameters& parameters);
  /// Draws before `too_few`: those that were dropped count.
  [[nodiscard]] std::uint64_t most_draws() const;
  /// The conditions drop nearly everything: Usage. `taken` of `draws` were of use.
  [[noreturn]] void too_few(const char* sampler, std::uint64_t taken, std::uint64_t draws) const;

  std::uint64_t count_;
  std::uint64_t seed_;
};

[[nodiscard]] Parameter count_parameter();
[[nodiscard]] Parameter seed_parameter();

/// Of 0 … size − 1, sorted by 64 bits drawn for each (of equal ones the smaller first).
[[nodiscard]] std::vector<std::uint32_t> permutation(std::uint64_t seed, std::uint64_t size);

}  // namespace rayreplay::sweep
