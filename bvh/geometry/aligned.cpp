#include "bvh/geometry/aligned.hpp"

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace rayreplay::bvh::detail {

void ask_for_huge_pages([[maybe_unused]] void* place, [[maybe_unused]] std::size_t bytes) noexcept {
#if defined(__linux__)
  // Whole pages only. If the system refuses, the array stays on small pages.
  (void)madvise(place, bytes / kHugePage * kHugePage, MADV_HUGEPAGE);
#endif
}

}  // namespace rayreplay::bvh::detail
