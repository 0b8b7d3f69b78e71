// Rules of the counts of basic blocks.
#include <array>
#include <tuple>

#include <fmt/format.h>

#include "capture/trace/rules/rules.hpp"

namespace rayreplay::trace {
namespace {

/// Whether all columns have the rows of `lanes`; `groups` may have none.
bool check_lengths(const BlockCounts& counts, FaultList& faults) {
  const std::size_t rows = counts.size();
  const std::array<std::pair<const char*, std::size_t>, 5> columns = {
      {{"pipeline", counts.pipeline.size()},
       {"shader", counts.shader.size()},
       {"function", counts.function.size()},
       {"block", counts.block.size()},
       {"groups", counts.groups.empty() ? rows : counts.groups.size()}}};
  for (const auto& [name, found] : columns) {
    if (found != rows) {
      faults.add(fmt::format("/profile/blocks/{}", name), "the column has another length than lanes",
                 std::to_string(found), std::to_string(rows));
      return false;
    }
  }
  return true;
}

}  // namespace

void check_groups(const std::string& path, std::size_t row, std::uint64_t lanes, std::uint64_t groups,
                  std::uint32_t warp_size, FaultList& faults) {
  constexpr std::uint32_t kGreatestWarp = 64;
  const std::uint64_t most = warp_size == 0 ? kGreatestWarp : warp_size;
  if (groups > lanes || lanes / most + (lanes % most != 0 ? 1 : 0) > groups) {
    faults.add_row(path + "/groups", row, "so many lanes cannot have run in so many groups",
                   fmt::format("{} lanes in {} groups", lanes, groups), fmt::format("1 to {} lanes in each", most));
  }
}

void check_block_counts(const BlockCounts& counts, std::size_t shaders, std::uint32_t warp_size, FaultList& faults) {
  if (!check_lengths(counts, faults)) {
    return;
  }
  const auto place = [&](std::size_t row) {
    return std::tuple(counts.pipeline[row], counts.shader[row], counts.function[row], counts.block[row]);
  };
  for (std::size_t row = 0; row < counts.size() && !faults.full(); ++row) {
    if (counts.shader[row] >= shaders) {
      faults.add_row("/profile/blocks/shader", row, "the block's shader id is out of range",
                     std::to_string(counts.shader[row]), fmt::format("less than {}, the number of shaders", shaders));
    }
    if (row > 0 && place(row - 1) >= place(row)) {
      faults.add_row("/profile/blocks/block", row, "the rows do not ascend",
                     fmt::format("pipeline {}, shader {}, function {}, block {}", counts.pipeline[row],
                                 counts.shader[row], counts.function[row], counts.block[row]),
                     "each block once, by pipeline, shader, function and block");
    }
    if (!counts.groups.empty()) {
      check_groups("/profile/blocks", row, counts.lanes[row], counts.groups[row], warp_size, faults);
    }
  }
}

}  // namespace rayreplay::trace
