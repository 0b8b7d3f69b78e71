#include "scheduler-models/sort_threads.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "base/declare_parameters.hpp"

namespace rayreplay::scheduler {
namespace {

/// Up to this size insertion sort beats clearing eight histograms.
constexpr std::size_t kInsertionLimit = 48;
constexpr std::size_t kKeyBytes = 8;
constexpr std::size_t kBins = 256;

void insertion_sort(std::span<KeyedThread> items) {
  for (std::size_t i = 1; i < items.size(); ++i) {
    const KeyedThread item = items[i];
    std::size_t to = i;
    for (; to > 0 && items[to - 1].key > item.key; --to) {
      items[to] = items[to - 1];
    }
    items[to] = item;
  }
}

std::size_t digit(std::uint64_t key, std::size_t byte) {
  return (key >> (8 * byte)) & (kBins - 1);
}

void append_threads(const WarpAssignment& assignment, std::size_t warp, ThreadList& list) {
  for (std::size_t lane = 0; lane < assignment.warp_size; ++lane) {
    const std::uint32_t thread = assignment.thread_at[warp * assignment.warp_size + lane];
    if (thread != kNoThread) {
      list.push_back(thread);
    }
  }
}

/// First position of each tile's threads in tile order.
std::vector<std::size_t> tile_starts(const WarpAssignment& assignment) {
  std::vector<std::size_t> starts;
  for (std::size_t place = 0; place < assignment.thread_at.size(); ++place) {
    if (assignment.thread_at[place] != kNoThread) {
      const std::size_t tile = assignment.tile[place / assignment.warp_size];
      if (tile + 2 > starts.size()) {
        starts.resize(tile + 2, 0);
      }
      ++starts[tile + 1];
    }
  }
  for (std::size_t tile = 1; tile < starts.size(); ++tile) {
    starts[tile] += starts[tile - 1];
  }
  return starts;
}

/// Stable.
ThreadList split_by_tile(const ThreadList& threads, const std::vector<std::uint32_t>& tile_of_thread,
                         std::vector<std::size_t> next) {
  ThreadList result(threads.size());
  for (const std::uint32_t thread : threads) {
    result[next[tile_of_thread[thread]]++] = thread;
  }
  return result;
}

}  // namespace

ThreadList threads_by_start(const WarpAssignment& assignment) {
  std::vector<std::uint32_t> warp_at(assignment.warps());
  for (std::size_t warp = 0; warp < warp_at.size(); ++warp) {
    warp_at[assignment.start_rank[warp]] = static_cast<std::uint32_t>(warp);
  }
  ThreadList result;
  result.reserve(assignment.thread_at.size());
  for (const std::uint32_t warp : warp_at) {
    append_threads(assignment, warp, result);
  }
  return result;
}

void sort_by_key(std::span<KeyedThread> items, std::span<KeyedThread> scratch) {
  if (items.size() <= kInsertionLimit) {
    insertion_sort(items);
    return;
  }
  std::array<std::array<std::uint32_t, kBins>, kKeyBytes> count{};
  for (const KeyedThread& item : items) {
    for (std::size_t byte = 0; byte < kKeyBytes; ++byte) {
      ++count[byte][digit(item.key, byte)];
    }
  }
  std::span<KeyedThread> from = items;
  std::span<KeyedThread> to = scratch.first(items.size());
  for (std::size_t byte = 0; byte < kKeyBytes; ++byte) {
    if (count[byte][digit(items[0].key, byte)] == items.size()) {
      continue;
    }
    std::uint32_t sum = 0;
    for (std::uint32_t& bin : count[byte]) {
      sum += std::exchange(bin, sum);
    }
    for (const KeyedThread& item : from) {
      to[count[byte][digit(item.key, byte)]++] = item;
    }
    std::swap(from, to);
  }
  if (from.data() != items.data()) {
    std::copy(from.begin(), from.end(), items.begin());
  }
}

void sort_by_key(ThreadList& threads, const trace::Column<std::uint64_t>& key) {
  trace::Column<KeyedThread> items(threads.size());
  for (std::size_t i = 0; i < threads.size(); ++i) {
    items[i] = {key[threads[i]], threads[i]};
  }
  trace::Column<KeyedThread> scratch(threads.size());
  sort_by_key(items, scratch);
  for (std::size_t i = 0; i < threads.size(); ++i) {
    threads[i] = items[i].thread;
  }
}

Parameter tiled_parameter() {
  return declare::flag("tiled", false, "Sort inside each launch tile instead of over the whole launch.");
}

Swizzle place(const WarpAssignment& assignment, const ThreadList& sorted, bool tiled) {
  ThreadList places;
  places.reserve(sorted.size());
  for (std::size_t warp = 0; warp < assignment.warps(); ++warp) {
    append_threads(assignment, warp, places);
  }
  Swizzle swizzle(sorted.size());
  const auto pair_up = [&swizzle](const ThreadList& at, const ThreadList& work) {
    for (std::size_t i = 0; i < at.size(); ++i) {
      swizzle[at[i]] = work[i];
    }
  };
  if (!tiled) {
    pair_up(places, sorted);
    return swizzle;
  }
  std::vector<std::uint32_t> tile_of_thread(sorted.size());
  for (std::size_t place = 0; place < assignment.thread_at.size(); ++place) {
    if (assignment.thread_at[place] != kNoThread) {
      tile_of_thread[assignment.thread_at[place]] = assignment.tile[place / assignment.warp_size];
    }
  }
  const std::vector<std::size_t> starts = tile_starts(assignment);
  pair_up(split_by_tile(places, tile_of_thread, starts), split_by_tile(sorted, tile_of_thread, starts));
  return swizzle;
}

}  // namespace rayreplay::scheduler
