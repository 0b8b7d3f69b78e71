// The first row of a range that meets a condition, searched in parallel; the same row whatever the number of workers.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <optional>

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

namespace rayreplay::trace {

/// The lowest block of [first, last) cut into blocks of about `grain` for which `block_has(begin, end)` returns a row;
/// of those rows the lowest.
template <class BlockHas>
[[nodiscard]] std::optional<std::size_t> first_in_blocks(std::size_t first, std::size_t last, std::size_t grain,
                                                         BlockHas&& block_has) {
  std::atomic<std::size_t> lowest{last};
  tbb::parallel_for(tbb::blocked_range<std::size_t>(first, last, grain), [&](const auto& range) {
    if (range.begin() >= lowest.load(std::memory_order_relaxed)) {
      return;
    }
    if (const std::optional<std::size_t> row = block_has(range.begin(), range.end())) {
      std::size_t known = lowest.load();
      while (*row < known && !lowest.compare_exchange_weak(known, *row)) {
      }
    }
  });
  const std::size_t row = lowest.load();
  return row < last ? std::optional(row) : std::nullopt;
}

template <class IsBad>
[[nodiscard]] std::optional<std::size_t> first_row(std::size_t first, std::size_t last, IsBad&& is_bad) {
  constexpr std::size_t kGrain = std::size_t{1} << 16;
  return first_in_blocks(first, last, kGrain, [&](std::size_t begin, std::size_t end) -> std::optional<std::size_t> {
    unsigned bad = 0;  // no early exit, so that the loop can be vectorised
    for (std::size_t i = begin; i < end; ++i) {
      bad |= static_cast<unsigned>(is_bad(i));
    }
    for (std::size_t i = begin; bad != 0 && i < end; ++i) {
      if (is_bad(i)) {
        return i;
      }
    }
    return std::nullopt;
  });
}

}  // namespace rayreplay::trace
