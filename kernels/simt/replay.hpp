// Warps replayed on a device: the loops of simt::replay and simt::replay_segments (MODELS.md §4).
//
// Contract: a piece (a thread, or a segment) is a run of rows of the launch's codes (codes.hpp); a place holds a piece
// or is empty; a warp is warp_size places, 1 to 64. One subgroup replays one warp, several if they fit, or with several
// lanes an invocation. Warps go in batches of at most `most_places` places; device memory beside the launch's codes is
// the places (4 bytes each) and the output of one batch: 32 bytes a warp or place, 8 a warp and table. Exact integers,
// the same for any subgroup size, batches and division of launches. O(events + warp events · distinct heads). Errors:
// DeviceError; Unsupported for a piece of more than 2^26 rows.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "kernels/device/device.hpp"
#include "kernels/simt/codes.hpp"
#include "kernels/simt/layout.h"

namespace rayreplay::kernels::simt {

/// The rule by which a policy chooses among the heads of a warp (choose.glsl).
enum class Choice : std::uint32_t {
  Majority = RR_SIMT_MAJORITY,
  Lowest = RR_SIMT_LOWEST,
  Oldest = RR_SIMT_OLDEST,
  Apart = RR_SIMT_APART,
};

/// The input of a replay; arrays are device addresses.
struct Warps {
  Codes codes;
  std::uint64_t offsets = 0;  ///< pieces + 1 rows, 64-bit
  std::uint64_t pieces = 0;
  std::uint32_t warp_size = 0;
  Choice choice = Choice::Majority;
  std::uint32_t calls = 0;
  std::uint32_t favoured = 0;
  std::uint64_t call_rows = 0;    ///< CallRow by code; may be 0 where only sums by call are asked for
  std::uint64_t rays_before = 0;  ///< by piece, a byte: not 0 asks for the detail
  std::uint32_t tables = 0;       ///< of weights
  std::uint32_t subgroup = 0;     ///< size to be used, one that the device has; 0: what fits the warps best
};

/// Outputs of one launch of the kernel: device addresses, 0 for unwanted ones.
struct Results {
  std::uint64_t sums = 0;  ///< sums_words(calls) words, added to
  std::uint64_t by_warp = 0;
  std::uint64_t by_place = 0;
  std::uint64_t weights = 0;
  std::uint64_t bounces = 0;  ///< added to
};
[[nodiscard]] std::uint64_t sums_words(std::uint32_t calls);

/// For input and results on the device: warps [0, count) of `piece_at` (addresses, like those of `warps`).
void replay_resident(Device& device, Stream& stream, const Warps& warps, std::uint64_t piece_at, std::uint64_t count,
                     const Results& results);

struct Sums {
  std::vector<std::array<std::uint64_t, 2>> by_call;  ///< by code: warp events, active lanes
  std::array<std::uint64_t, RR_SIMT_LANE_COUNTS> active_lanes{};
  std::vector<std::array<std::uint64_t, 2>> by_bounce;  ///< bounce · calls + code; empty unless asked for
  bool unknown_piece = false;                           ///< a place names none of the pieces: nothing here counts
};

/// Bytes of a row of sums by warp or place: warp events, active lanes, and both weighted by cost, 64 bits each.
inline constexpr std::uint64_t kTallyBytes = 32;

/// Empty spans: unwanted.
struct HostResults {
  std::span<std::byte> by_warp;   ///< kTallyBytes each
  std::span<std::byte> by_place;  ///< kTallyBytes each
  std::span<std::byte> weights;   ///< 64-bit, warp · tables + table
};

inline constexpr std::uint64_t kMaxPlaces = std::uint64_t{1} << 22;

/// The pieces by place: to upload, or on the device.
struct Places {
  std::span<const std::uint32_t> piece_at;
  std::uint64_t resident = 0;  ///< address of the same on the device; 0: upload them
};

/// `advance` receives finished warps; may be empty. Waits for the stream.
[[nodiscard]] Sums replay(Device& device, Stream& stream, const Warps& warps, const Places& given,
                          const HostResults& host, const std::function<void(std::uint64_t)>& advance,
                          std::uint64_t most_places = kMaxPlaces);

}  // namespace rayreplay::kernels::simt
