// Records of the classification's kernel, shared by C++ and GLSL.
//
// Infinite distances are allowed where the contract (judge_tests.hpp) says so; all else is finite.
#ifndef RAYREPLAY_KERNELS_CLASSIFICATION_RECORDS_H
#define RAYREPLAY_KERNELS_CLASSIFICATION_RECORDS_H

#ifdef __cplusplus
#include <cstddef>
#include <cstdint>
namespace rayreplay::kernels {
using RrFloat = float;
using RrDouble = double;
using RrWord = std::uint32_t;
using RrLong = std::uint64_t;
#define RR_CONSTANT inline constexpr RrWord
#else
#define RrFloat float
#define RrDouble double
#define RrWord uint
#define RrLong uint64_t
#define RR_CONSTANT const uint
#endif

RR_CONSTANT kJudgedKinds = 7u;  // kinds of tests (MODELS.md §8), in this order:
RR_CONSTANT kJudgedNecessary = 0u;
RR_CONSTANT kJudgedBoxMiss = 1u;
RR_CONSTANT kJudgedOverlap = 2u;
RR_CONSTANT kJudgedEnlargement = 3u;
RR_CONSTANT kJudgedOrder = 4u;
RR_CONSTANT kJudgedEnlargementOrOrder = 5u;
RR_CONSTANT kJudgedBeforeTMin = 6u;

RR_CONSTANT kHardwareCulls = 1u;  // what is known of the hardware (judge.hpp)
RR_CONSTANT kHardwareClips = 2u;

RR_CONSTANT kRayFirstHit = 1u;  // RayRecord::flags: ends on its first hit
RR_CONSTANT kRayAssumed = 2u;   // its t* rests on an assumption

RR_CONSTANT kTestHit = 1u;       // TestRecord::flags: hit at `t`
RR_CONSTANT kTestTriangle = 2u;  // else a procedural primitive
RR_CONSTANT kTestLeftOut = 4u;   // counted nowhere; its verdict means nothing

RR_CONSTANT kInstanceActive = 1u;    // InstanceRecord::flags
RR_CONSTANT kInstanceIdentity = 2u;  // its space is the world's

RR_CONSTANT kVerdictKind = 7u;  // VerdictRecord::kind_and_flags
RR_CONSTANT kVerdictInactive = 8u;
RR_CONSTANT kVerdictLate = 16u;

// Rows of the small sums: (goal · 2 + type) · kJudgedKinds + kind, then the following ones.
RR_CONSTANT kSmallInactive = 4u * kJudgedKinds;
RR_CONSTANT kSmallLate = kSmallInactive + 1u;
RR_CONSTANT kSmallAssumed = kSmallInactive + 2u;
RR_CONSTANT kSmallSums = kSmallInactive + 3u;

struct RayRecord {
  RrFloat origin_x, origin_y, origin_z, t_min;
  RrFloat direction_x, direction_y, direction_z, t_max;
  RrFloat t_star;
  RrWord thread;  // counted from the batch's first
  RrWord flags;
};

struct TestRecord {
  RrWord ray;  // row of the batch's rays
  RrWord instance;
  RrWord number;  // of the primitive in its structure
  RrWord flags;
  RrFloat t;
  RrFloat t_max;
};

struct InstanceRecord {
  RrDouble to_object[12];  // world to object, row-major 3×4
  RrLong first_box;        // row of the boxes that is primitive 0 of its structure
  RrLong first_object;     // row of the objects that is primitive 0 of the instance
  RrWord flags;
  RrWord unused;
};

// Empty: low[0] is infinite; all else is finite.
struct BoxRecord {
  RrFloat low[3];
  RrFloat high[3];
};

struct VerdictRecord {
  RrWord t_enter;  // a float's bits
  RrWord kind_and_flags;
};

#ifdef __cplusplus
static_assert(sizeof(RayRecord) == 44 && offsetof(RayRecord, t_star) == 32);
static_assert(sizeof(TestRecord) == 24 && offsetof(TestRecord, t) == 16);
static_assert(sizeof(InstanceRecord) == 120 && offsetof(InstanceRecord, first_box) == 96 &&
              offsetof(InstanceRecord, flags) == 112);
static_assert(sizeof(BoxRecord) == 24 && sizeof(VerdictRecord) == 8);
}  // namespace rayreplay::kernels
#else
#undef RrFloat
#undef RrDouble
#undef RrWord
#undef RrLong
#endif
#undef RR_CONSTANT
#endif
