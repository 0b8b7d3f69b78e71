// All rounds of a regrouped launch on the device (scheduler-models/regrouping/regroup.hpp).
//
// Contract: equal to `scheduler::schedule_rounds` for the same units, keys and options, place by place. In each round
// the continuing threads are gathered in order of their places, sorted stably by (unit, key) and cut into warps;
// deferred acceptance (claim.comp) finds the continued warps, equal to asking warp after warp. Only varying bits of the
// keys are sorted; if those and the unit need more than 64 bits, keys are numbered first.
//
// The number of continuing threads of each round follows from the segments, so the host waits once a round only where
// warps end at borders of units or keys, or where a unit may stay unchanged. A round moves about 100 bytes a thread in
// a dozen launches. Device memory: 4 bytes a place of the schedule (twice that for several units), 4 a warp, at most 40
// a thread beside the segments and keys. Limits: less than 2^26 warps and less than 2^32 − 1024 places a round; beyond
// them DeviceError (Memory). Errors: DeviceError.
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
  std::vector<std::uint32_t> unit;         ///< by unit: its index in the spec; units without warps are left out
};

/// `keys`: u64 by segment; null: equal keys. `thread_at`: u32 by place of the assignment.
[[nodiscard]] ScheduleOnDevice schedule_rounds(Device& device, Stream& stream, const SegmentsOnDevice& segments,
                                               const Buffer* keys, const Buffer& thread_at, const RoundsSpec& spec);

}  // namespace rayreplay::kernels
