// All rounds of a regrouped launch on the device (scheduler-models/regrouping/regroup.hpp says what they are).
//
// Contract: what `scheduler::schedule_rounds` gives for the same units, keys and options, place by place. Round by
// round the threads that go on are gathered in order of their places, sorted stably by (unit, key) and cut into warps;
// who continues whose warp is found by deferred acceptance (claim.comp), which gives what asking warp after warp gives.
// Of the keys only the bits that differ are sorted; where those and the unit need more than 64, keys are numbered
// first.
//
// How many threads go on in which round is known from the segments, so that the host waits for the device once a round
// where warps end at borders of units or keys or where a unit may stay as it is, and not at all in between elsewhere.
// A round moves about 100 bytes a thread, and takes a dozen launches. Device memory: 4 bytes a place of the schedule
// (twice that for several units), 4 a warp, 40 a thread at most beside the segments and keys. Limits: less than 2^26
// warps and less than 2^32 − 1024 places a round; above them a DeviceError says Memory. Errors: DeviceError.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/device/device.hpp"
#include "kernels/regrouping/segments.hpp"

namespace rayreplay::kernels {

struct RoundsSpec {
  std::uint32_t warp_size = 32;
  bool split_keys = false;
  bool keep_lanes = true;
  bool only_if_fewer = false;
  std::span<const std::uint32_t> warps;     ///< of the assignment that have segments, unit by unit, in order of start
  std::span<const std::size_t> unit_begin;  ///< units + 1: first of `warps`
};

/// A schedule; the device must outlive it.
struct ScheduleOnDevice {
  Device* device = nullptr;
  std::uint32_t warp_size = 32;
  std::uint64_t warps = 0;
  Buffer segment_at;                       ///< u32 by place
  Buffer moved;                            ///< u32 by warp
  std::vector<std::uint64_t> round_begin;  ///< rounds + 1
  std::vector<std::uint64_t> unit_begin;   ///< units + 1
  std::vector<std::uint32_t> unit;         ///< by unit: which of the spec's; those without warps are left out
};

/// `keys`: u64 by segment; null: all the same. `thread_at`: u32 by place of the assignment.
[[nodiscard]] ScheduleOnDevice schedule_rounds(Device& device, Stream& stream, const SegmentsOnDevice& segments,
                                               const Buffer* keys, const Buffer& thread_at, const RoundsSpec& spec);

}  // namespace rayreplay::kernels
