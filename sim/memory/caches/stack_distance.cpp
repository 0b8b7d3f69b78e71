#include "sim/memory/caches/stack_distance.hpp"

#include <cmath>

#include "sim/memory/reuse/reuse_engine.hpp"

namespace rayreplay::memory {
namespace {

/// A probability that may underflow a double: value · 2^(512 · scale), value in 2^-256 … 2^256.
struct Scaled {
  double value = 1;
  int scale = 0;

  void times(double factor) {
    value *= factor;
    if (value >= 0x1p256) {
      value *= 0x1p-512;
      ++scale;
    } else if (value < 0x1p-256) {
      value *= 0x1p512;
      --scale;
    }
  }
  [[nodiscard]] double number() const {
    return scale == 0 ? value : 0;  // below 2^-256 it is negligible beside p, which starts at 1
  }
};

}  // namespace

double stack_distance_hit(std::uint32_t distance, std::uint64_t ways, std::uint64_t lines) {
  if (distance < ways) {
    return 1;
  }
  if (distance == kInfinite || ways == lines) {
    return 0;
  }
  const long double q = static_cast<long double>(ways) / static_cast<long double>(lines);
  const long double odds = std::log(q / (1 - q));
  long double exponent = static_cast<long double>(distance) * std::log1p(-q);
  long double sum = 0;
  for (std::uint64_t a = 0; a < ways; ++a) {
    sum += std::exp(exponent);
    exponent += std::log(static_cast<long double>(distance - a) / static_cast<long double>(a + 1)) + odds;
  }
  return static_cast<double>(std::fmin(sum, 1.0L));
}

StackDistanceTable::StackDistanceTable(std::uint64_t ways, std::uint64_t lines)
    : ways_(static_cast<std::uint32_t>(ways)) {
  if (ways == lines) {
    return;  // fully associative: 1 below, 0 from there on
  }
  const double q = static_cast<double>(ways) / static_cast<double>(lines);
  Scaled term;
  for (std::uint64_t a = 1; a < ways; ++a) {
    term.times(q);
  }
  // Kahan summation, because there is one subtraction per distance.
  double p = 1;
  double lost = 0;
  for (std::uint64_t distance = ways; distance < kInfinite; ++distance) {
    const double change = -q * term.number() - lost;
    const double next = p + change;
    lost = (next - p) - change;
    p = next;
    // Terms rise before they fall; p always falls.
    if (p < 0.5 / kOne) {
      break;
    }
    table_.push_back(static_cast<std::uint32_t>(std::lround(p * kOne)));
    const auto d = static_cast<double>(distance);
    term.times((1 - q) * d / (d + 1 - static_cast<double>(ways)));
  }
}

}  // namespace rayreplay::memory
