// Sorting of threads, shared by the packing models.
//
// Contract: a packing takes `threads_by_start` (which fixes the order of ties: warps by start rank, lanes ascending),
// sorts it stably by its key, and calls `place`, which gives the i-th place of the unpacked assignment the i-th sorted
// thread. `tiled` sorts inside each launch tile: the list is split stably by tile, and places are taken by tile number,
// then by row-major index of the warp. Radix sort on 64-bit keys, least significant byte first, skipping bytes in which
// all keys agree: O(threads) time and memory.
#pragma once

#include <cstdint>
#include <span>

#include "base/parameters.hpp"
#include "scheduler-models/packing.hpp"
#include "scheduler-models/warp_assignment.hpp"

namespace rayreplay::scheduler {

using ThreadList = trace::Column<std::uint32_t>;

struct KeyedThread {
  std::uint64_t key;
  std::uint32_t thread;
};

/// Every thread of the assignment once: warps by start rank, lanes ascending.
[[nodiscard]] ThreadList threads_by_start(const WarpAssignment& assignment);

/// Ascending and stable; `scratch` is at least as long.
void sort_by_key(std::span<KeyedThread> items, std::span<KeyedThread> scratch);

/// The same for a list of threads and one key per thread id.
void sort_by_key(ThreadList& threads, const trace::Column<std::uint64_t>& key);

/// The parameter "tiled" of models that can sort inside each launch tile.
[[nodiscard]] Parameter tiled_parameter();

[[nodiscard]] Swizzle place(const WarpAssignment& assignment, const ThreadList& sorted, bool tiled);

}  // namespace rayreplay::scheduler
