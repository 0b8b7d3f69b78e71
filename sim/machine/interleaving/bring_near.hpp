// A prefetch that the compiler does not remove.
//
// Contract: prefetches the cache line at `address` for reading; no other effect, any address is allowed.
#pragma once

namespace rayreplay::machine {

/// GCC considers a function that only prefetches as free of effects and drops its calls; the empty asm statement
/// prevents that.
inline void bring_near(const void* address) {
  __builtin_prefetch(address);
  asm volatile("");  // NOLINT(hicpp-no-assembler)
}

}  // namespace rayreplay::machine
