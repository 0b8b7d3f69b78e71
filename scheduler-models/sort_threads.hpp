// Sorting threads: what the packing models share.
//
// Contract: a packing starts from `threads_by_start` (the order of its ties: warps by start rank, lanes ascending),
// sorts that list stably by its key, and hands it to `place`, which gives the i-th place of the unpacked assignment the
// i-th sorted thread. `tiled` sorts inside each launch tile: the list is split by tile, stably, and places are taken
// tile by tile in order of tile number, inside a tile by row-major index of the warp. Sorting is least significant
// digit first on 64-bit keys, one byte at a time, without the bytes in which all keys agree: O(threads) time and
// memory.
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

/// "tiled": the parameter of models that can sort inside each launch tile.
[[nodiscard]] Parameter tiled_parameter();

[[nodiscard]] Swizzle place(const WarpAssignment& assignment, const ThreadList& sorted, bool tiled);

}  // namespace rayreplay::scheduler
