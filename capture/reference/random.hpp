// Random numbers of one thread, addressed by (seed, thread, how many were drawn before).
//
// Contract: a counter goes through a bijective 64-bit mixer (splitmix64, Steele, Lea and Flood 2014), so a thread's
// numbers do not depend on any other thread, on the order of work or on the machine. Points in disk and sphere come by
// rejection, as in the book: no trigonometric functions.
#pragma once

#include <cstdint>

#include "base/split_mix.hpp"
#include "capture/reference/vec.hpp"

namespace rayreplay::reference {

class Random {
 public:
  Random(std::uint64_t seed, std::uint64_t thread)
      : state_(split_mix_finish(split_mix_finish(seed ^ kStream) + thread * kSplitMixGamma)) {}

  /// Uniform in [0, 1), a multiple of 2^-24.
  [[nodiscard]] float uniform() {
    state_ += kSplitMixGamma;
    return static_cast<float>(split_mix_finish(state_) >> 40U) * 0x1p-24F;
  }
  /// Uniform in [-1, 1).
  [[nodiscard]] float symmetric() {
    return 2 * uniform() - 1;
  }
  /// Strictly inside the unit disk, z = 0.
  [[nodiscard]] Vec3 in_unit_disk() {
    while (true) {
      const float x = symmetric();
      const float y = symmetric();
      if (x * x + y * y < 1) {
        return {x, y, 0};
      }
    }
  }
  /// Strictly inside the unit sphere.
  [[nodiscard]] Vec3 in_unit_sphere() {
    while (true) {
      const float x = symmetric();
      const float y = symmetric();
      const float z = symmetric();
      if (x * x + y * y + z * z < 1) {
        return {x, y, z};
      }
    }
  }
  /// On the unit sphere. Points too near the centre to have a direction are drawn again.
  [[nodiscard]] Vec3 unit_vector() {
    while (true) {
      const Vec3 p = in_unit_sphere();
      if (dot(p, p) > 1e-12F) {
        return normalize(p);
      }
    }
  }

 private:
  static constexpr std::uint64_t kStream = 0xD1B5'4A32'D192'ED03U;

  std::uint64_t state_;
};

}  // namespace rayreplay::reference
