// Random numbers of one thread, addressed by (seed, thread, how many were drawn before).
//
// Contract: a counter goes through a bijective 64-bit mixer (splitmix64, Steele, Lea and Flood 2014), so a thread's
// numbers do not depend on any other thread, on the order of work or on the machine. Points in disk and sphere come by
// rejection, as in the book: no trigonometric functions.
#pragma once

#include <cstdint>

#include "capture/reference/vec.hpp"

namespace rayreplay::reference {

class Random {
 public:
  Random(std::uint64_t seed, std::uint64_t thread) : state_(mix(mix(seed ^ kStream) + thread * kGamma)) {}

  /// Uniform in [0, 1), a multiple of 2^-24.
  [[nodiscard]] float uniform() {
    state_ += kGamma;
    return static_cast<float>(mix(state_) >> 40U) * 0x1p-24F;
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
  static constexpr std::uint64_t kGamma = 0x9E37'79B9'7F4A'7C15U;
  static constexpr std::uint64_t kStream = 0xD1B5'4A32'D192'ED03U;

  static constexpr std::uint64_t mix(std::uint64_t z) {
    z = (z ^ (z >> 30U)) * 0xBF58'476D'1CE4'E5B9U;
    z = (z ^ (z >> 27U)) * 0x94D0'49BB'1331'11EBU;
    return z ^ (z >> 31U);
  }

  std::uint64_t state_;
};

}  // namespace rayreplay::reference
