// The pages of an array that a launch's recorded accesses touch, side by side (shader_memory.hpp).
//
// Contract: pages have 64 KiB. `add` takes a range of bytes, `finish` ends the adding; then `offset` gives a byte's
// place when the touched pages, ascending, follow each other without gaps: bytes of one page keep their distances, and
// so do bytes of pages that are neighbours. O(n log n) for n ranges in all, O(log pages) for a byte.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace rayreplay::memory {

class TouchedPages {
 public:
  static constexpr std::uint64_t kBytes = std::uint64_t{1} << 16U;
  static constexpr std::uint32_t kSectorBytes = 32;  ///< elements of the allocations

  /// The bytes [first, last].
  void add(std::uint64_t first, std::uint64_t last) {
    for (std::uint64_t page = first / kBytes; page <= last / kBytes; ++page) {
      if (pages_.empty() || pages_.back() != page) {
        pages_.push_back(page);
      }
    }
    if (pages_.size() > most_) {
      finish();
      most_ = pages_.size() + kMostUnsorted;
    }
  }
  void finish() {
    std::ranges::sort(pages_);
    pages_.erase(std::ranges::unique(pages_).begin(), pages_.end());
  }

  [[nodiscard]] std::uint64_t bytes() const {
    return pages_.size() * kBytes;
  }
  /// Of a byte that was added.
  [[nodiscard]] std::uint64_t offset(std::uint64_t byte) const {
    const auto found = std::ranges::lower_bound(pages_, byte / kBytes) - pages_.begin();
    return static_cast<std::uint64_t>(found) * kBytes + byte % kBytes;
  }

 private:
  /// Newly touched pages are sorted in with the others when there are so many.
  static constexpr std::size_t kMostUnsorted = std::size_t{1} << 20U;

  std::vector<std::uint64_t> pages_;
  std::size_t most_ = kMostUnsorted;
};

}  // namespace rayreplay::memory
