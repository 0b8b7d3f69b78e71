// The random numbers of procedural scenes: std::mt19937, whose output the standard fixes, and conversions of our own,
// because the standard's distributions differ between libraries.
#pragma once

#include <cstdint>
#include <random>

#include "capture/reference/vec.hpp"

namespace rayreplay::reference {

class SceneRandom {
 public:
  explicit SceneRandom(std::uint64_t seed) : engine_(static_cast<std::mt19937::result_type>(seed ^ (seed >> 32U))) {}

  /// Uniform in [0, 1) with 53 bits.
  double unit() {
    const auto high = static_cast<double>(engine_() >> 5U);
    const auto low = static_cast<double>(engine_() >> 6U);
    return (high * 67108864.0 + low) / 9007199254740992.0;
  }
  double between(double low, double high) {
    return low + (high - low) * unit();
  }
  /// Red, green, blue in this order.
  Vec3 color(double low, double high) {
    const double r = between(low, high);
    const double g = between(low, high);
    const double b = between(low, high);
    return {static_cast<float>(r), static_cast<float>(g), static_cast<float>(b)};
  }

 private:
  std::mt19937 engine_;
};

}  // namespace rayreplay::reference
