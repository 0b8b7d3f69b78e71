// Basic blocks by how often a thread executes them.
//
// Contract: executions of a block are those by a lane, over all captured launches, divided by the threads of these
// launches (entries of ray-generation shaders): per pixel and frame where a launch has a thread for each pixel. Empty
// without counts of a ray-generation shader, or if none ran. Linear in the blocks.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "app/report/charts/plot.hpp"
#include "app/report/profile/profile_report.hpp"

namespace rayreplay::report {

/// Blocks within one range of executions.
struct BlockRange {
  double low = 0, high = 0;  ///< executions of a thread, from low to below high; both 0: never
  std::array<std::uint64_t, trace::kShaderStages> by_stage{};
};

/// First the blocks that never ran; then a range for each power of ten, from that of the least executed block to that
/// of the most executed one.
[[nodiscard]] std::vector<BlockRange> block_histogram(const ProfileContext& context, const ProfileDetails& details);
[[nodiscard]] output::Table histogram_table(const std::vector<BlockRange>& ranges);
[[nodiscard]] std::vector<pictures::Chart> histogram_charts(const std::vector<BlockRange>& ranges);

}  // namespace rayreplay::report
