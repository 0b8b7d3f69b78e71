// First pass over a launch's records: chunks, faults, records per thread, and facts of whole groups. Internal to this
// room.
//
// Contract: reads the words once, in buffer order. Every chunk is checked before use: kind, shader and its stage, lanes
// (not none, within the warp, as many as recorded), thread ids, length. The first invalid chunk ends the stream, since
// the next one's start is unknown: later words are counted in `lost_words`. Zero words at the end are no chunk and not
// lost. A gap between Events blocks ends the stream as well. Memory: 12 bytes a chunk, 22 a group, 9 a thread. Chunks
// that straddle two blocks are copied.
//
// Warps: a RAY_GENERATION chunk is a warp of its own, numbered from 0 by order in the buffer; its lanes' threads get
// warp and lane. A group has the warp of its lanes if all of them are of one warp and in the lanes they started in;
// otherwise the hardware repacked and the group has trace::kNone. Threads without such a record (outside the window,
// dropped) but also without events are put into warps of their own behind the others, in order of thread id, so that
// every thread has a place; they run nothing. If a thread with events has none, or two, thread_warp stays empty.
// Clock: nanoseconds since the earliest group of the launch; low 32 bits are unwrapped in buffer order, which is right
// as long as neighbours in the buffer are less than 2.1 s apart.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "capture/ingest/access_table.hpp"
#include "capture/ingest/chunk.hpp"
#include "capture/ingest/spool_contents.hpp"
#include "capture/trace/trace.hpp"

namespace rayreplay::ingest {

inline constexpr std::uint8_t kUnknownStage = 0xFF;

struct LaunchIndex {
  trace::LaunchSize size;
  std::vector<const std::uint32_t*> chunks;  ///< in buffer order
  /// Of an access: its group among those of accesses. kNone: no event, no group, or an access of an unknown site.
  std::vector<std::uint32_t> group_of_chunk;
  std::uint64_t unknown_accesses = 0;  ///< records of sites that the spool does not have
  std::uint64_t accesses_without_texel = 0;
  std::deque<std::vector<std::uint32_t>> copies;
  std::vector<std::uint32_t> records;  ///< by thread
  std::uint64_t total_records = 0;

  trace::Groups groups;
  std::uint64_t group_lanes = 0;  ///< over all groups of warp events: lanes, and the groups themselves
  std::uint64_t warp_event_groups = 0;
  std::uint64_t repacked_groups = 0;
  trace::Column<std::uint32_t> thread_warp;
  trace::Column<std::uint8_t> thread_lane;
  std::uint64_t unrecorded_threads = 0;  ///< without a RAY_GENERATION record, though others have one
  std::string no_warps;                  ///< why thread_warp is empty

  bool has_rays = false;       ///< some thread began one
  bool has_geometry = false;   ///< some geometry index is not 0
  bool has_ray_names = false;  ///< hit objects are used: events name their rays
  bool has_hints = false;      ///< reorder calls, or markers
  bool geometry_too_large = false;

  std::uint64_t lost_words = 0;
  std::string damage;  ///< why words were lost; "" if none were
};

/// `stages`: by shader id, kUnknownStage where there is no such shader. `warp_size`: of the device, 1 to 64.
[[nodiscard]] LaunchIndex index_launch(const SpooledLaunch& launch, const std::vector<std::uint8_t>& stages,
                                       std::uint32_t warp_size, const AccessTable& accesses);

}  // namespace rayreplay::ingest
