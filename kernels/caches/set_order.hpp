// Sorts accesses by cache set: the first step of passes over set-associative caches.
//
// Contract: writes each access's set (line mod sets) to `arrays.keys` and its number to `arrays.values`, and sorts both
// stably by set; afterwards `arrays.keys` and `arrays.values` are the sorted arrays.
#pragma once

#include <cstdint>

#include "kernels/caches/arguments.h"
#include "kernels/device/device.hpp"
#include "kernels/sort/radix_sort.hpp"

namespace rayreplay::kernels {

/// Lines of accesses on the device, less `low`.
struct LinesOnDevice {
  const Buffer* lines = nullptr;
  std::uint64_t accesses = 0;
  unsigned line_bytes = 0;  ///< 4 or 8
  std::uint64_t low = 0;
};

void sort_by_set(Device& device, Stream& stream, const LinesOnDevice& lines, std::uint64_t sets, Sorter& sorter,
                 SortArrays& arrays);

/// Workgroups with a thread for each of `count`.
[[nodiscard]] constexpr std::uint64_t groups_of(std::uint64_t count) {
  return (count + RR_LRU_THREADS - 1) / RR_LRU_THREADS;
}

}  // namespace rayreplay::kernels
