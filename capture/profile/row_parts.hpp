// Tables of counts in parts, the rows of each shader of each pipeline, and sums of counts with their overflow.
//
// Contract: `parts_of` takes a checked table (trace::load_profile), whose rows of one pipeline and shader lie together;
// O(rows). `add_count` throws Input where a sum exceeds 64 bits; it names the file's row.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace rayreplay::profile {

struct RowRange {
  std::size_t first = 0, end = 0;
};

/// The rows of each shader of each pipeline, in their order. `Counts`: trace::BlockCounts, trace::ValueCounts.
template <class Counts>
[[nodiscard]] std::vector<RowRange> parts_of(const Counts& counts) {
  std::vector<RowRange> parts;
  for (std::size_t row = 0; row < counts.size(); ++row) {
    if (row == 0 || counts.pipeline[row] != counts.pipeline[row - 1] || counts.shader[row] != counts.shader[row - 1]) {
      parts.push_back({row, row});
    }
    parts.back().end = row + 1;
  }
  return parts;
}

/// A column from which sums are made.
struct SummedColumn {
  const std::string& file;
  const char* path = "";  ///< "/profile/blocks/lanes"
  const char* what = "";  ///< of the error: "the sum of a block's counts exceeds 64 bits"
};
void add_count(std::uint64_t& sum, std::uint64_t count, const SummedColumn& column, std::size_t row);

}  // namespace rayreplay::profile
