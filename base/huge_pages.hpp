// Huge pages for large arrays that are read in any order.
//
// Contract: asks the system to back allocated, unwritten memory with huge pages. The system may ignore the hint. Only
// huge pages that lie completely inside the memory are requested, so memory use does not grow. Reason: random reads of
// an array of hundreds of megabytes miss the TLB with small pages, and a TLB miss takes longer than the read. Does
// nothing on systems other than Linux.
#pragma once

#include <cstddef>

namespace rayreplay {

void prefer_huge_pages(void* memory, std::size_t bytes) noexcept;

/// For a vector that was just resized, before its elements are written.
template <class Vector>
void prefer_huge_pages(Vector& vector) noexcept {
  prefer_huge_pages(vector.data(), vector.size() * sizeof(*vector.data()));
}

/// Reserves room for an empty vector, in huge pages.
template <class Vector>
void reserve_huge_pages(Vector& vector, std::size_t elements) {
  vector.reserve(elements);
  prefer_huge_pages(vector.data(), vector.capacity() * sizeof(*vector.data()));
}

}  // namespace rayreplay
