// The kind of one test per invocation (judge_tests.hpp), by the rules of traversal/classification/judge.cpp.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#include "kernels/shaders/common.glsl"
#include "kernels/arithmetic/exact.glsl"
#include "kernels/classification/records.h"
#include "kernels/classification/slab.glsl"

layout(local_size_x = 128) in;

layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Tests {
  TestRecord at[];
};
layout(buffer_reference, scalar, buffer_reference_align = 4) readonly buffer Rays {
  RayRecord at[];
};
layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Instances {
  InstanceRecord at[];
};
layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Boxes {
  BoxRecord at[];
};
layout(buffer_reference, scalar, buffer_reference_align = 8) writeonly buffer Verdicts {
  VerdictRecord at[];
};

layout(push_constant, scalar) uniform Push {
  uint first_group;
  uint count;
  uint models;
  uint hardware;          ///< kHardware…
  uint64_t tests;
  uint64_t rays;
  uint64_t instances;
  uint64_t boxes;         ///< the primitives' own; then each model's
  uint64_t boxes_a_model;
  uint64_t verdicts;      ///< 0: not wanted; likewise the keys
  uint64_t thread_keys;
  uint64_t ray_keys;
  uint64_t object_keys;
  uint64_t small_sums;
  double unit;
  double enlarged_unit;
};

const uint kNowhere = 0x7FC00000u;  // a NaN
const uint kNoKey = 0xFFFFFFFFu;

shared uint small[kSmallSums];

double latest(double t, double slack) {
  precise const double more = abs(t) * slack;
  precise const double last = t + more;
  return last;
}

BoxRecord box_at(uint64_t row) {
  return Boxes(boxes + row * 24ul).at[0];
}

VerdictRecord judge(TestRecord test, RayRecord ray, InstanceRecord instance) {
  const bool hit = (test.flags & kTestHit) != 0u;
  const double t = distance_of(test.t);
  const double t_star = distance_of(ray.t_star);
  const double last = latest(t_star, unit);
  if ((instance.flags & kInstanceActive) == 0u) {
    return VerdictRecord(kNowhere, (hit && t <= last ? kJudgedNecessary : kJudgedEnlargement) | kVerdictInactive);
  }
  const double t_min = distance_of(ray.t_min);
  const double t_max = distance_of(ray.t_max);
  const SlabRay slab = slab_ray(ray, instance);
  const uint64_t row = instance.first_box + test.number;
  uint kind = kJudgedOrder;
  uint flags = 0u;
  uint t_enter = kNowhere;
  bool late = false;
  // The primitive's own box decides unless the ray enters it behind t*; then the enlarged boxes do. One loop, so that
  // `enter` is inlined once.
  for (uint model = 0u; model <= models; ++model) {
    const BoxRecord box = box_at(model * boxes_a_model + row);
    SlabEntry found = enter(box, slab, t_min, t_max, model == 0u ? unit : enlarged_unit);
    if (model > 0u) {
      if (found.met && found.entry <= latest(t_star, enlarged_unit)) {
        kind = (hardware & kHardwareCulls) != 0u && late ? kJudgedEnlargement : kJudgedEnlargementOrOrder;
        break;
      }
      continue;
    }
    const bool inactive = is_empty(box);
    if (hit && (test.flags & kTestTriangle) != 0u && !inactive) {
      found.entry = found.met ? least(found.entry, t) : t;
      found.met = true;
    }
    flags = inactive ? kVerdictInactive : 0u;
    t_enter = found.met ? exact_to_float(found.entry) : kNowhere;
    if (hit && t <= last) {
      kind = kJudgedNecessary;
      break;
    }
    if (!found.met) {
      kind = found.met_from_origin && (hardware & kHardwareClips) == 0u ? kJudgedBeforeTMin : kJudgedEnlargement;
      break;
    }
    if (found.entry <= last) {
      kind = hit ? kJudgedOverlap : kJudgedBoxMiss;
      break;
    }
    late = found.entry > latest(distance_of(test.t_max), unit);
  }
  return VerdictRecord(t_enter, kind | flags | (late ? kVerdictLate : 0u));
}

// Adds one for every invocation that has `row`, with one atomic per row of the subgroup.
void count_rows(bool has, uint row) {
  bool open = has;
  while (subgroupAny(open)) {
    const uint lead = subgroupBallotFindLSB(subgroupBallot(open));
    const uint wanted = subgroupShuffle(row, lead);
    const bool matches = open && row == wanted;
    const uint matching = subgroupBallotBitCount(subgroupBallot(matches));
    if (gl_SubgroupInvocationID == lead) {
      atomicAdd(small[wanted], matching);
    }
    open = open && !matches;
  }
}

void main() {
  for (uint i = gl_LocalInvocationID.x; i < kSmallSums; i += gl_WorkGroupSize.x) {
    small[i] = 0u;
  }
  barrier();
  const uint i = (gl_WorkGroupID.x + first_group) * gl_WorkGroupSize.x + gl_LocalInvocationID.x;
  bool has = i < count;
  TestRecord test;
  if (has) {
    test = Tests(tests).at[i];
    if ((test.flags & kTestLeftOut) != 0u) {
      has = false;
      if (thread_keys != 0ul) {
        Words(thread_keys).at[i] = kNoKey;
      }
      if (ray_keys != 0ul) {
        Words(ray_keys).at[i] = kNoKey;
      }
      if (object_keys != 0ul) {
        Words(object_keys).at[i] = kNoKey;
      }
    }
  }
  uint row = 0u;
  uint flags = 0u;
  bool rests_on_t_star = false;
  if (has) {
    const RayRecord ray = Rays(rays).at[test.ray];
    const InstanceRecord instance = Instances(instances).at[test.instance];
    const VerdictRecord verdict = judge(test, ray, instance);
    flags = verdict.kind_and_flags;
    const uint kind = flags & kVerdictKind;
    const uint goal = (ray.flags & kRayFirstHit) != 0u ? 1u : 0u;
    const uint type = (test.flags & kTestTriangle) != 0u ? 1u : 0u;
    row = (goal * 2u + type) * kJudgedKinds + kind;
    rests_on_t_star = (ray.flags & kRayAssumed) != 0u &&
                      (kind == kJudgedOverlap || kind == kJudgedOrder || kind == kJudgedEnlargementOrOrder);
    if (verdicts != 0ul) {
      Verdicts(verdicts).at[i] = verdict;
    }
    if (thread_keys != 0ul) {
      Words(thread_keys).at[i] = ray.thread * kJudgedKinds + kind;
    }
    if (ray_keys != 0ul) {
      Words(ray_keys).at[i] = test.ray * kJudgedKinds + kind;
    }
    if (object_keys != 0ul) {
      Words(object_keys).at[i] = uint(instance.first_object + test.number) * kJudgedKinds + kind;
    }
  }
  count_rows(has, row);
  count_rows(has && (flags & kVerdictInactive) != 0u, kSmallInactive);
  count_rows(has && (flags & kVerdictLate) != 0u, kSmallLate);
  count_rows(rests_on_t_star, kSmallAssumed);
  barrier();
  for (uint k = gl_LocalInvocationID.x; k < kSmallSums; k += gl_WorkGroupSize.x) {
    if (small[k] != 0u) {
      atomicAdd(Words(small_sums).at[k], small[k]);
    }
  }
}
