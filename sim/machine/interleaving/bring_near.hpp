// A prefetch that stays.
#pragma once

namespace rayreplay::machine {

/// GCC takes a function that does nothing but prefetch to be without effect, and drops its calls; the empty statement
/// has one.
inline void bring_near(const void* address) {
  __builtin_prefetch(address);
  asm volatile("");  // NOLINT(hicpp-no-assembler)
}

}  // namespace rayreplay::machine
