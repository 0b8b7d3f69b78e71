// Push constants and constants of the regrouping kernels, shared by C++ and GLSL.
//
// Contract: scalar layout; 64-bit members are addresses of arrays in device memory unless stated otherwise, 0 for none.
// Every array has less than 2^32 elements.
#ifndef RAYREPLAY_KERNELS_REGROUPING_SHARED_H
#define RAYREPLAY_KERNELS_REGROUPING_SHARED_H

#ifdef __cplusplus
#include <cstddef>
#include <cstdint>

namespace rayreplay::kernels::regrouping {
using uint = std::uint32_t;
using std::uint64_t;
#define RR_CONSTANT inline constexpr uint
#else
#define RR_CONSTANT const uint
#endif

RR_CONSTANT kGroup = 256;          // threads of a workgroup
RR_CONSTANT kPlacesAGroup = 1024;  // of gather.comp
RR_CONSTANT kPathsAGroup = 2048;   // of threads.comp
RR_CONSTANT kNobody = 0xFFFFFFFFu;

// trace::EventKind
RR_CONSTANT kOcclusionBegin = 1;
RR_CONSTANT kReportIntersection = 3;
RR_CONSTANT kAnyHit = 4;
RR_CONSTANT kIgnoreIntersection = 5;
RR_CONSTANT kTerminateRay = 6;
RR_CONSTANT kMiss = 7;
RR_CONSTANT kClosestHit = 8;
RR_CONSTANT kCallable = 9;
RR_CONSTANT kReorder = 10;

// Flags of CutPush.
RR_CONSTANT kCutPendingCalls = 1;
RR_CONSTANT kCutEveryCall = 2;
RR_CONSTANT kCutSite = 4;
RR_CONSTANT kCutCapturedOnly = 8;
RR_CONSTANT kCutInlineAnyHit = 16;
RR_CONSTANT kCutWrite = 32;  // the second pass

struct CutPush {
  uint first_group;
  uint threads;
  uint flags;
  uint first_bounce;
  uint site;
  uint unused;
  uint64_t kind;          // u8 by event
  uint64_t shader;        // u16 by event
  uint64_t ray;           // u32 by event, or 0
  uint64_t site_of;       // u8 by ray, or 0
  uint64_t event_offset;  // u64, threads + 1
  uint64_t ray_offset;    // u64, threads + 1
  uint64_t first;         // u32 by thread: first pass, out: its segments; second pass: its first segment
  uint64_t out_offset;    // u64 by segment
  uint64_t out_bounce;    // u16 by segment
  uint64_t most;          // u32: most segments of a thread
};

struct ThreadsPush {
  uint first_group;
  uint threads;
  uint64_t first;      // u32, threads + 1
  uint64_t histogram;  // u32 by number of segments
  uint64_t starts;     // a bit by segment: it is its thread's first
};

// Sources of hints.
RR_CONSTANT kHintNone = 0;
RR_CONSTANT kHintCaptured = 1;
RR_CONSTANT kHintGiven = 2;

struct KeysPush {
  uint first_group;
  uint threads;
  uint shader_bits;
  uint hint_from;
  uint hint_width;  // bits that the hint has
  uint hint_bits;   // of which these are taken
  uint place_bits;  // left free below the hint
  uint unused;
  uint64_t kind;
  uint64_t shader;
  uint64_t ray;           // or 0
  uint64_t ray_offset;    // u64, threads + 1
  uint64_t hint;          // u32 by ray
  uint64_t hint_bits_of;  // u8 by ray
  uint64_t value;         // u32 by segment
  uint64_t first;
  uint64_t segment_offset;  // u64 by segment
  uint64_t bounce;          // u16 by segment
  uint64_t keys;            // out, u64 by segment
};

// Kernels that read the places of pending calls: place.glsl.
RR_CONSTANT kPlaceHit = 1;  // of a miss: its direction
RR_CONSTANT kPlaceRay = 2;
RR_CONSTANT kBoxWords = 7;  // of 64 bits, by workgroup: low x y z, high x y z, whether there is a hit

struct PlacePush {
  uint first_group;
  uint threads;
  uint place;   // kPlaceHit or kPlaceRay
  uint bits;    // of the cells of an axis
  uint stride;  // workgroups
  uint unused;
  uint64_t kind;
  uint64_t ray;         // or 0
  uint64_t ray_offset;  // u64, threads + 1
  uint64_t columns;     // addresses: origin x y z, direction x y z by ray, t by event
  uint64_t first;
  uint64_t segment_offset;
  uint64_t bounce;
  uint64_t box;   // first pass, out: kBoxWords by workgroup; second: those of the launch
  uint64_t keys;  // u64 by segment
};

struct WidestPush {
  uint first_group;
  uint count;
  uint64_t bytes;
  uint64_t most;  // u32
};

struct IotaPush {
  uint first_group;
  uint count;
  uint64_t words;
};

struct VaryPush {
  uint first_group;
  uint count;
  uint64_t keys;
  uint64_t starts;
  uint64_t masks;  // 4 words: or (low, high), and (low, high), over segments that are not their thread's first
};

struct OpenPush {
  uint first_group;
  uint places;
  uint warp_size;
  uint unused;
  uint64_t warps;      // u32: the assignment's warps, unit by unit
  uint64_t thread_at;  // u32 by place of the assignment
  uint64_t first;
  uint64_t segment_at;  // out
};

RR_CONSTANT kGatherWrite = 1;
RR_CONSTANT kGatherKeys = 2;  // there is a key
RR_CONSTANT kGatherWide = 4;  // of 64 bits

struct GatherPush {
  uint first_group;
  uint places;
  uint warp_size;
  uint flags;
  uint key_bits;
  uint unused;
  uint64_t segment_at;  // of the round
  uint64_t starts;
  uint64_t waiting;   // a bit by place
  uint64_t blocks;    // u32 by kPlacesAGroup places: first pass, out: how many wait; second: how many before it
  uint64_t keys;      // or 0
  uint64_t key_mask;  // the bits that differ, themselves
  uint64_t unit;      // u32 by warp of the round, or 0
  uint64_t out_keys;
  uint64_t out_places;  // warp << 6 | lane
};

// Kernels over sorted threads that find stretches, which warps do not cross, and the beginnings of warps.
struct StretchPush {
  uint first_group;
  uint count;     // threads
  uint shift;     // a stretch: keys that agree from this bit on
  uint key_bits;  // above them: the unit
  uint wide;      // keys of 64 bits
  uint warp_size;
  uint64_t keys;
  uint64_t flags;         // u32 by thread: it begins a stretch
  uint64_t number;        // u32 by thread: exclusive sum of flags
  uint64_t begin;         // u32 by stretch, and `count` behind the last
  uint64_t warps_before;  // u32 by stretch
  uint64_t warp_start;    // out, u32 by warp formed
  uint64_t warp_fill;     // out, u32 by warp formed
  uint64_t warp_unit;     // out, u32 by warp formed, or 0
  uint64_t unit_formed;   // u32 by unit, or 0
};

struct StretchWarpsPush {
  uint first_group;
  uint stretches;
  uint warp_size;
  uint unused;
  uint64_t begin;
  uint64_t warps;  // out, u32 by stretch
};

struct RankPush {
  uint first_group;
  uint count;
  uint64_t flags;
  uint64_t number;
  uint64_t segments;  // sorted
  uint64_t ranks;     // out, u64 by segment
};

struct LivingPush {
  uint first_group;
  uint warps;
  uint warp_size;
  uint unused;
  uint64_t waiting;
  uint64_t lives;  // out, u32 by warp
};

struct DecidePush {
  uint first_group;
  uint units;
  uint64_t formed;       // u32 by unit
  uint64_t living_rank;  // u32 by earlier warp
  uint64_t begin;        // u32 by unit: its first earlier warp
  uint64_t stays;        // out, u32 by unit
  uint64_t warps;        // out, u32 by unit
};

// Forms warps of sorted threads, except units in `stays`.
struct FormPush {
  uint first_group;
  uint log_lanes;  // lanes of a warp, rounded up to a power of two
  uint warp_size;
  uint formed;
  uint waiting;
  uint keep_lanes;
  uint64_t segment_at;  // of the earlier round
  uint64_t places;      // sorted
  uint64_t warp_start;  // or 0: every warp but the last is full
  uint64_t warp_fill;
  uint64_t givers;  // out, u32 by thread: of its warp, those that give most first; 0 behind the last
  uint64_t out_segment_at;
  uint64_t warp_unit;     // or 0
  uint64_t stays;         // u32 by unit, or 0: no unit stays
  uint64_t formed_begin;  // u32 by unit
  uint64_t out_begin;     // u32 by unit
  uint64_t out_unit;      // or 0
};

struct ClaimPush {
  uint first_group;
  uint warp_size;
  uint formed;
  uint waiting;
  uint64_t warp_start;  // or 0
  uint64_t warp_fill;
  uint64_t givers;
  uint64_t claims;     // u32 by earlier warp: the new warp that continues it
  uint64_t warp_unit;  // or 0
  uint64_t stays;      // or 0
  uint64_t formed_begin;
  uint64_t out_begin;
  uint64_t out_moved;
};

struct StayPush {
  uint first_group;
  uint places;
  uint warp_size;
  uint unused;
  uint64_t segment_at;
  uint64_t waiting;
  uint64_t living_rank;
  uint64_t unit;   // u32 by earlier warp, or 0
  uint64_t begin;  // u32 by unit
  uint64_t stays;
  uint64_t out_begin;
  uint64_t out_segment_at;
  uint64_t out_moved;
  uint64_t out_unit;  // or 0
};

struct PermutePush {
  uint first_group;
  uint places;
  uint warp_size;
  uint unused;
  uint64_t segment_at;  // of the round
  uint64_t moved;
  uint64_t unit;
  uint64_t begin;  // u32 by unit: its first warp in the round
  uint64_t to;     // u32 by unit: its first warp in the schedule
  uint64_t out_segment_at;
  uint64_t out_moved;
};

#undef RR_CONSTANT
#ifdef __cplusplus
static_assert(sizeof(CutPush) == 104 && offsetof(CutPush, kind) == 24);
static_assert(sizeof(ThreadsPush) == 32 && offsetof(ThreadsPush, first) == 8);
static_assert(sizeof(KeysPush) == 120 && offsetof(KeysPush, kind) == 32);
static_assert(sizeof(PlacePush) == 96 && offsetof(PlacePush, kind) == 24);
static_assert(sizeof(WidestPush) == 24 && offsetof(WidestPush, bytes) == 8);
static_assert(sizeof(IotaPush) == 16 && offsetof(IotaPush, words) == 8);
static_assert(sizeof(VaryPush) == 32 && offsetof(VaryPush, keys) == 8);
static_assert(sizeof(OpenPush) == 48 && offsetof(OpenPush, warps) == 16);
static_assert(sizeof(GatherPush) == 96 && offsetof(GatherPush, segment_at) == 24);
static_assert(sizeof(StretchPush) == 96 && offsetof(StretchPush, keys) == 24);
static_assert(sizeof(StretchWarpsPush) == 32 && offsetof(StretchWarpsPush, begin) == 16);
static_assert(sizeof(RankPush) == 40 && offsetof(RankPush, flags) == 8);
static_assert(sizeof(LivingPush) == 32 && offsetof(LivingPush, waiting) == 16);
static_assert(sizeof(DecidePush) == 48 && offsetof(DecidePush, formed) == 8);
static_assert(sizeof(FormPush) == 112 && offsetof(FormPush, segment_at) == 24);
static_assert(sizeof(ClaimPush) == 88 && offsetof(ClaimPush, warp_start) == 16);
static_assert(sizeof(StayPush) == 96 && offsetof(StayPush, segment_at) == 16);
static_assert(sizeof(PermutePush) == 72 && offsetof(PermutePush, segment_at) == 16);
}  // namespace rayreplay::kernels::regrouping
#endif
#endif
