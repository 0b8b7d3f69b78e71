#include "base/huge_pages.hpp"

#ifdef __linux__
#include <sys/mman.h>
#endif

#include <memory>

namespace rayreplay {

void prefer_huge_pages([[maybe_unused]] void* memory, [[maybe_unused]] std::size_t bytes) noexcept {
#ifdef __linux__
  constexpr std::size_t kHugePage = std::size_t{2} << 20;
  if (std::align(kHugePage, kHugePage, memory, bytes) != nullptr) {
    (void)madvise(memory, bytes / kHugePage * kHugePage, MADV_HUGEPAGE);
  }
#endif
}

}  // namespace rayreplay
