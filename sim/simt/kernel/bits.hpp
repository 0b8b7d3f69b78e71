// Sets of up to 64 lanes or slots as bits: the few primitives that are worth an instruction of their own.
//
// Contract: what an instruction set changes is how the compiler renders these; nothing else in the loops knows of it.
#pragma once

#include <cstdint>

#ifdef __BMI__
#include <immintrin.h>
#endif

namespace rayreplay::simt::kernel::RAYREPLAY_SIMT_KERNEL {

/// 64 for the empty set.
inline unsigned lowest(std::uint64_t set) {
#ifdef __BMI__
  // Not the portable form: knowing what it means, the compiler would branch on the empty set.
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
