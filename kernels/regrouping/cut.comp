// Segments of every path: the first pass counts them, the second writes their beginnings (rules:
// scheduler-models/regrouping/segments.hpp). One invocation per path.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "kernels/regrouping/access.glsl"

layout(local_size_x = kGroup) in;
layout(push_constant, scalar) uniform Block {
  CutPush push;
};

const uint kNotOfWarps =
    1u << kReportIntersection | 1u << kIgnoreIntersection | 1u << kTerminateRay | 1u << kReorder;

bool flag(uint which) {
  return (push.flags & which) != 0;
}

bool is_pending(uint kind) {
  return kind == kMiss || kind == kClosestHit;
}

/// EveryCall, for an event that is not the first of its thread.
bool starts_anew(uint row, uint kind, uint before) {
  if (kind <= kOcclusionBegin) {
    const bool entered = is_pending(before) || before == kCallable;
    return !entered || half_at(push.shader, row - 1) != half_at(push.shader, row);
  }
  return !(flag(kCutInlineAnyHit) && kind == kAnyHit && before == kReportIntersection);
}

/// Whether the ray had a reorder call before the row.
bool was_reordered(uint begin, uint row, uint ray) {
  for (uint i = begin; i < row; ++i) {
    if (byte_at(push.kind, i) == kReorder) {
      const uint its = word_at(push.ray, i);
      if ((its == kNobody ? 0 : its) == ray) {
        return true;
      }
    }
  }
  return false;
}

void main() {
  const uint thread = THREAD_NUMBER;
  uint count = 0;
  if (thread < push.threads) {
    const bool write = flag(kCutWrite);
    const uint begin = uint(long_at(push.event_offset, thread));
    const uint end = uint(long_at(push.event_offset, thread + 1));
    uint segment = 0;
    if (begin != end) {
      count = 1;
      if (write) {
        segment = word_at(push.first, thread);
        put_long(push.out_offset, segment, begin);
        Halves(push.out_bounce + 2ul * segment).at[0] = uint16_t(0);
      }
    }
    const uint first_ray = flag(kCutSite) ? uint(long_at(push.ray_offset, thread)) : 0;
    uint begun = 0;
    uint reordered = kNobody;  // the ray of the last reorder call; without `ray` rays never go back
    uint before = kNobody;
    bool opened = false;
    for (uint row = begin; row < end; ++row) {
      const uint kind = byte_at(push.kind, row);
      begun += kind <= kOcclusionBegin ? 1 : 0;
      const uint last_begun = begun == 0 ? 0 : begun - 1;
      if (kind == kReorder) {
        reordered = last_begun;
      }
      if ((kNotOfWarps >> kind & 1) == 0) {
        bool chosen = false;
        uint ray = last_begun;
        if (opened && flag(kCutEveryCall)) {
          chosen = starts_anew(row, kind, before);
        } else if (opened && flag(kCutPendingCalls)) {
          chosen = is_pending(kind);
        }
        if (chosen && push.ray != 0) {
          ray = word_at(push.ray, row);
          ray = ray == kNobody ? 0 : ray;
        }
        if (chosen && flag(kCutPendingCalls)) {
          chosen = ray >= push.first_bounce;
          if (chosen && flag(kCutSite)) {
            chosen = byte_at(push.site_of, first_ray + ray) == push.site;
          }
          if (chosen && flag(kCutCapturedOnly)) {
            chosen = push.ray == 0 ? reordered == ray : was_reordered(begin, row, ray);
          }
        }
        if (chosen) {
          ++count;
          if (write) {
            ++segment;
            put_long(push.out_offset, segment, row);
            Halves(push.out_bounce + 2ul * segment).at[0] = uint16_t(min(ray, 65535u));
          }
        }
        opened = true;
      }
      before = kind;
    }
    if (!write) {
      put_word(push.first, thread, count);
    }
  }
  if (!flag(kCutWrite)) {
    const uint most = subgroupMax(count);
    if (subgroupElect() && most > word_at(push.most, 0)) {
      atomicMax(Words(push.most).at[0], most);
    }
  }
}
