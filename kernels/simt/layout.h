// Records shared by the replay's kernels and their callers, for C++ and GLSL (scalar layout).
//
// Contract: addresses are 64-bit device addresses of arrays; sizes and offsets are asserted below. 64-bit counters are
// stored low word first: C++ reads them as std::uint64_t, kernels add to them by words.
#ifndef RAYREPLAY_KERNELS_SIMT_LAYOUT_H
#define RAYREPLAY_KERNELS_SIMT_LAYOUT_H

#ifdef __cplusplus
#include <cstddef>
#include <cstdint>

namespace rayreplay::kernels::simt {
using uint = std::uint32_t;
using uint64_t = std::uint64_t;
#endif

/// Invocations of a workgroup; a multiple of every subgroup size.
#define RR_SIMT_THREADS 128
/// No call, in a table of codes and as a head.
#define RR_SIMT_NO_CALL 0xFFFFU
/// Rows that an invocation of the encoder takes.
#define RR_SIMT_ENCODED_ROWS 16
#define RR_SIMT_MOST_WEIGHTS 4
#define RR_SIMT_BOUNCES 64
/// Counters of `active_lanes`: 0 … 64 lanes.
#define RR_SIMT_LANE_COUNTS 65
/// A queue of more rows than this could overflow the kernel's 32-bit sums over a warp.
#define RR_SIMT_MOST_ROWS (1U << 26)

// The policies' rules for the next call (kernels/simt/choose.glsl).
#define RR_SIMT_MAJORITY 0U
#define RR_SIMT_LOWEST 1U
#define RR_SIMT_OLDEST 2U
#define RR_SIMT_APART 3U

// Results beyond the sums by call: bits of a specialization constant.
#define RR_SIMT_BY_WARP 1U
#define RR_SIMT_BY_PLACE 2U
#define RR_SIMT_WEIGHTS 4U
#define RR_SIMT_DETAIL 8U

// Faults of the input: bits of the word of faults.
#define RR_SIMT_UNKNOWN_PIECE 1U
#define RR_SIMT_LONG_PIECE 2U

/// A call's numbers, by code.
struct CallRow {
  uint cost;
  uint begins;  ///< 1: begins a ray
  uint weight_0, weight_1, weight_2, weight_3;
};

/// encode.comp: rows [0, rows) of two columns.
struct EncodePush {
  uint first_group;
  uint padding;
  uint64_t rows;
  uint64_t kind;     ///< a byte a row; aligned to 16, as the two that follow
  uint64_t shader;   ///< two bytes a row
  uint64_t codes;    ///< one or two bytes a row, written
  uint64_t code_of;  ///< two bytes an entry, by shader << 4 | kind
  uint64_t seen;     ///< a word an entry; used instead of `codes` and `code_of` by the pass that finds what occurs
};

/// replay.comp: warps [0, warps) of `piece_at`.
struct ReplayPush {
  uint first_group;
  uint calls;
  uint favoured;  ///< codes below it are the policy's special class
  uint tables;    ///< of weights
  uint64_t warps;
  uint64_t pieces;
  uint64_t codes;     ///< by row, aligned to 16 and readable up to a multiple of 16
  uint64_t offsets;   ///< pieces + 1 rows, 64-bit
  uint64_t piece_at;  ///< by place, a word; all ones for empty lanes
  uint64_t sums;      ///< see below
  uint64_t call_rows;
  uint64_t by_warp;          ///< four 64-bit sums a warp
  uint64_t by_place;         ///< the same a place, over the warp events that its piece took part in
  uint64_t weights_of_warp;  ///< 64-bit, warp · tables + table
  uint64_t rays_before;      ///< by piece, a byte
  uint64_t bounces;          ///< 64-bit pairs, bounce · calls + code: warp events, active lanes
};

// `sums`: 64-bit pairs by code (warp events, active lanes), then RR_SIMT_LANE_COUNTS 64-bit counters, then the word of
// faults.

#ifdef __cplusplus
static_assert(sizeof(CallRow) == 24);
static_assert(sizeof(EncodePush) == 56 && offsetof(EncodePush, rows) == 8 && offsetof(EncodePush, seen) == 48);
static_assert(sizeof(ReplayPush) == 112 && offsetof(ReplayPush, warps) == 16 && offsetof(ReplayPush, bounces) == 104);
}  // namespace rayreplay::kernels::simt
#endif

#endif
