#include "base/keep_memory.hpp"

#include <limits>  // says whether this is glibc

#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace rayreplay {

void keep_freed_memory() noexcept {
#ifdef __GLIBC__
  (void)mallopt(M_MMAP_MAX, 0);  // a block with a mapping of its own would be unmapped when freed
  (void)mallopt(M_TRIM_THRESHOLD, std::numeric_limits<int>::max());
#endif
}

void keep_freed_blocks() noexcept {
#ifdef __GLIBC__
  constexpr int kLargest = 32 << 20;  // glibc's maximum
  (void)mallopt(M_MMAP_THRESHOLD, kLargest);
  (void)mallopt(M_TRIM_THRESHOLD, std::numeric_limits<int>::max());
#endif
}

void keep_small_blocks() noexcept {
#ifdef __GLIBC__
  constexpr int kSmall = 1 << 20;
  (void)mallopt(M_MMAP_THRESHOLD, kSmall);
  (void)mallopt(M_TRIM_THRESHOLD, kSmall);
#endif
}

void give_back_freed_memory() noexcept {
#ifdef __GLIBC__
  (void)malloc_trim(0);
#endif
}

}  // namespace rayreplay
