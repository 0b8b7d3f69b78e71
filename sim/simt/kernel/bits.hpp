// Sets of up to 64 lanes or slots as bits: primitives with a dedicated instruction.
//
// Contract: the instruction set only changes the compiler's output; the loops do not depend on it.
#pragma once

#include <cstdint>

#ifdef __BMI__
#include <immintrin.h>
#endif

namespace rayreplay::simt::kernel::RAYREPLAY_SIMT_KERNEL {

/// 64 for the empty set.
inline unsigned lowest(std::uint64_t set) {
#ifdef __BMI__
  // Not the portable function: the compiler knows its meaning and would branch on the empty set.
  return static_cast<unsigned>(_tzcnt_u64(set));
#else
  return set == 0 ? 64U : static_cast<unsigned>(__builtin_ctzll(set));
#endif
}
inline std::uint64_t lowest_bit(std::uint64_t set) {
  return set & (~set + 1);
}
inline std::uint64_t without_lowest(std::uint64_t set) {
  return set & (set - 1);
}
inline unsigned size(std::uint64_t set) {
  return static_cast<unsigned>(__builtin_popcountll(set));
}

}  // namespace rayreplay::simt::kernel::RAYREPLAY_SIMT_KERNEL
