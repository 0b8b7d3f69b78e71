// Smallest and largest line of many accesses, computed in parallel.
//
// Contract: `line_range(size, line_of)` covers line_of(0) … line_of(size − 1); no accesses give low > high. `bits()`:
// number of bits that hold every line minus `low`. O(size).
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/parallel_reduce.h>

namespace rayreplay::memory {

struct LineRange {
  std::uint64_t low = ~std::uint64_t{0};
  std::uint64_t high = 0;

  /// 0 for no lines, or a single one.
  [[nodiscard]] unsigned bits() const {
    return high < low ? 0 : static_cast<unsigned>(std::bit_width(high - low));
  }

  void add(const LineRange& other) {
    low = std::min(low, other.low);
    high = std::max(high, other.high);
  }
};

[[nodiscard]] inline LineRange joined(LineRange a, const LineRange& b) {
  a.add(b);
  return a;
}

/// `line_of(i)` for i < `size`.
template <class LineOf>
[[nodiscard]] LineRange line_range(std::size_t size, const LineOf& line_of) {
  constexpr std::size_t kGrain = 65536;
  return oneapi::tbb::parallel_reduce(
      oneapi::tbb::blocked_range<std::size_t>(0, size, kGrain), LineRange{},
      [&](const oneapi::tbb::blocked_range<std::size_t>& range, LineRange found) {
        for (std::size_t i = range.begin(); i < range.end(); ++i) {
          const std::uint64_t line = line_of(i);
          found.add({line, line});
        }
        return found;
      },
      joined);
}

}  // namespace rayreplay::memory
