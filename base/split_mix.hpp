// SplitMix64: the same 64 random-looking bits for the same number on every machine.
//
// Contract: `split_mix(seed, index)` is output `index` of the generator that was started from `seed`;
// `split_mix_finish` is its last step, a bijection that spreads every input bit over all output bits. Source: Steele,
// Lea, Flood, "Fast Splittable Pseudorandom Number Generators", OOPSLA 2014. O(1).
#pragma once

#include <cstdint>

namespace rayreplay {

inline constexpr std::uint64_t kSplitMixGamma = 0x9E37'79B9'7F4A'7C15U;

[[nodiscard]] constexpr std::uint64_t split_mix_finish(std::uint64_t z) {
  z = (z ^ (z >> 30U)) * 0xBF58'476D'1CE4'E5B9U;
  z = (z ^ (z >> 27U)) * 0x94D0'49BB'1331'11EBU;
  return z ^ (z >> 31U);
}

[[nodiscard]] constexpr std::uint64_t split_mix(std::uint64_t seed, std::uint64_t index) {
  return split_mix_finish(seed + (index + 1) * kSplitMixGamma);
}

}  // namespace rayreplay
