// Huge pages for large arrays that are read in any order.
//
// Contract: asks the system to back memory that has been allocated but not yet written with huge pages; a wish that
// need not be granted, and changes nothing else. Only whole huge pages inside the memory are asked for, so that it
// takes no more than its size. Where pages are small, finding the page of a random place in an array of hundreds of
// megabytes takes longer than reading from it. Does nothing on systems other than Linux.
#pragma once

#include <cstddef>

namespace rayreplay {

void prefer_huge_pages(void* memory, std::size_t bytes) noexcept;

/// Of a vector that has just been resized without its elements being written.
template <class Vector>
void prefer_huge_pages(Vector& vector) noexcept {
  prefer_huge_pages(vector.data(), vector.size() * sizeof(*vector.data()));
}

}  // namespace rayreplay
