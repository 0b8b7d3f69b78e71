#include "app/report/models/sm_map.hpp"

#include <limits>

namespace rayreplay::report {

SmMap make_sm_map(const experiment::CompareRow& row, trace::LaunchSize size) {
  SmMap map;
  const std::vector<std::uint32_t>& sm_of_warp = row.timing.placement.sm;
  if (sm_of_warp.empty()) {
    return map;
  }
  const scheduler::Segments& cut = row.cut;
  const std::uint32_t warp_size = row.schedule.warp_size;
  trace::Column<std::uint32_t> sm(cut.size());
  for (std::size_t warp = 0; warp < sm_of_warp.size(); ++warp) {
    for (std::uint32_t lane = 0; lane < warp_size; ++lane) {
      const std::uint32_t segment = row.schedule.segment_at[warp * warp_size + lane];
      if (segment != scheduler::kNoSegment) {
        sm[segment] = sm_of_warp[warp];
      }
    }
  }
  map.last.width = size.width;
  map.last.height = size.height;
  map.last.values.assign(std::size_t{size.width} * size.height, std::numeric_limits<float>::quiet_NaN());
  for (std::size_t thread = 0; thread + 1 < cut.first.size(); ++thread) {
    const std::uint32_t first = cut.first[thread], end = cut.first[thread + 1];
    if (first == end) {
      continue;
    }
    ++map.threads;
    bool changed = false;
    for (std::uint32_t segment = first + 1; segment < end; ++segment) {
      changed = changed || sm[segment] != sm[segment - 1];
    }
    map.changed += changed ? 1 : 0;
    if (thread < map.last.values.size()) {
      map.last.values[thread] = static_cast<float>(sm[end - 1]);
    }
  }
  return map;
}

}  // namespace rayreplay::report
