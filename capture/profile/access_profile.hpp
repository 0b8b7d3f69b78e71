// Recorded accesses to buffers and images by site: how often it ran, and the memory that it touched in sectors of 32
// and lines of 128 bytes. A trace has texels of images, not their places in memory: the caller gives the bytes of a
// texel, from an assumed layout. Without it, images have no sectors.
//
// An access touches each sector that has one of its bytes. Sectors of descriptors and shader records are counted from
// their start, those of device addresses from 0. Different descriptors have different sectors; shader records of one
// site cannot be told apart and count as one. A group of lanes that ran the access together is one warp instruction.
//
// Contract: takes a checked trace (trace::load); sites of a merged profile have their sums in the file, without ranges
// of lines and without the bytes of images. Distinct sectors and lines are counted in each launch and summed. A site
// may touch ranges of any size: they are merged, not walked byte by byte. O(n log n) for the n accesses of a launch,
// and 40 bytes for each. Exceptions of the caller's functions pass through.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <vector>

#include "capture/trace/trace.hpp"

namespace rayreplay::profile {

inline constexpr std::uint32_t kSectorBytes = 32, kLineBytes = 128;

/// Ranges of lines of a warp instruction: 0, 1, 2, 3 to 4, 5 to 8, 9 to 16, 17 to 32, more.
inline constexpr std::size_t kLineRanges = 8;
[[nodiscard]] std::size_t line_range(std::uint64_t lines);

struct SiteAccesses {
  std::uint64_t lanes = 0;                                ///< executions by lane
  std::uint64_t groups = 0;                               ///< warp instructions
  std::uint64_t sectors = 0, lines = 0;                   ///< distinct, summed over the launches
  std::uint64_t group_sectors = 0, group_lines = 0;       ///< distinct within a group, summed over the groups
  std::uint64_t bytes = 0;                                ///< that the lanes asked for
  std::uint64_t nowhere = 0;                              ///< executions by lane that touched no byte of an image
  std::array<std::uint64_t, kLineRanges> group_ranges{};  ///< groups by the lines that they touched
};

/// The first and the last byte.
struct ByteRange {
  std::uint64_t first = 0, last = 0;
};
/// Appends the bytes that an access to an image touches: of a row of trace::AccessSites and a recorded address. Ranges
/// of different images do not meet.
using ImageBytes = std::function<void(std::uint32_t site, std::uint64_t address, std::vector<ByteRange>& to)>;
/// The images of a launch.
using LaunchImages = std::function<ImageBytes(const trace::Launch&)>;

/// By row of trace::AccessSites. Without `images`, sectors, lines, bytes and ranges of images stay 0.
[[nodiscard]] std::vector<SiteAccesses> access_profile(const trace::Trace& trace, const LaunchImages& images = {});

}  // namespace rayreplay::profile
