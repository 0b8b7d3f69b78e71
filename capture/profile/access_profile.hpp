// Recorded accesses to buffers and images by site: how often it ran, and of buffers the memory that it touched in
// sectors of 32 and lines of 128 bytes. Images have texels alone, whose places in memory are not known: no sectors.
//
// An access touches each sector that has one of its bytes. Sectors of descriptors and shader records are counted from
// their start, those of device addresses from 0. Different descriptors have different sectors; shader records of one
// site cannot be told apart and count as one. A group of lanes that ran the access together is one warp instruction.
//
// Contract: takes a checked trace (trace::load); sites of a merged profile have their sums in the file. Distinct
// sectors and lines are counted in each launch and summed. The bytes of a site may be of any size: ranges are merged,
// not counted out. O(n log n) for the n accesses of a launch, and 40 bytes for each.
#pragma once

#include <cstdint>
#include <vector>

#include "capture/trace/trace.hpp"

namespace rayreplay::profile {

inline constexpr std::uint32_t kSectorBytes = 32, kLineBytes = 128;

struct SiteAccesses {
  std::uint64_t lanes = 0;                           ///< executions by lane
  std::uint64_t groups = 0;                          ///< warp instructions
  std::uint64_t sectors = 0, lines = 0;              ///< distinct, summed over the launches
  std::uint64_t group_sectors = 0, group_lines = 0;  ///< distinct within a group, summed over the groups
};

/// By row of trace::AccessSites.
[[nodiscard]] std::vector<SiteAccesses> access_profile(const trace::Trace& trace);

}  // namespace rayreplay::profile
