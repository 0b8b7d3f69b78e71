// Sets of an exact LRU cache, one subgroup each: ways are spread over its lanes, several per lane.
//
// The rules are those of sim/memory/caches/set_associative.hpp. Lanes fetch one access each, then all handle these one
// after the other: the lane with the line, or with the victim, updates and counts it. A launch runs a part of each
// sequence, to bound its time; between launches sets are in memory.
#version 460
#extension GL_EXT_control_flow_attributes : require
#extension GL_GOOGLE_include_directive : require
#include "kernels/shaders/common.glsl"
#include "kernels/caches/arguments.h"

layout(local_size_x = RR_LRU_THREADS) in;
layout(constant_id = 0) const uint kSlots = 1;  // of a lane
layout(push_constant, scalar) uniform Push {
  ExactArguments arguments;
};

#ifdef LONG_LINES
#define Lines Longs
#define Line uint64_t
#else
#define Lines Words
#define Line uint
#endif

const uint kMaxSlots = 8;
const uint kNoWay = 0xFFFFFFFFu;  // also the time of a missing way: never the oldest, never found

#ifdef LONG_LINES
uint64_t shuffled(uint64_t line, uint from) {
  const uvec2 both = unpack32(line);
  return pack64(uvec2(subgroupShuffle(both.x, from), subgroupShuffle(both.y, from)));
}
#else
uint shuffled(uint line, uint from) {
  return subgroupShuffle(line, from);
}
#endif

/// Each subgroup has its own sequence.
void add(uint sequence, uint which, uint own) {
  const uint sum = subgroupAdd(own);
  if (gl_SubgroupInvocationID == 0) {
    Longs(arguments.counts).at[sequence * RR_EXACT_COUNTS + which] += uint64_t(sum);
  }
}

void main() {
  const uint lane = gl_SubgroupInvocationID;
  const uint sequence = (gl_WorkGroupID.x + arguments.first_group) * gl_NumSubgroups + gl_SubgroupID;
  if (sequence >= arguments.sequences) {
    return;
  }
  const uint first = Words(arguments.sequence_begins).at[sequence];
  const uint end = Words(arguments.sequence_begins).at[sequence + 1];
  if (end - first <= arguments.skipped) {
    return;
  }
  const uint begin = first + arguments.skipped;
  const uint stop = begin + min(end - begin, arguments.most);
  const bool allocate = (arguments.policy & RR_EXACT_ALLOCATE) != 0;
  const bool write_back = (arguments.policy & RR_EXACT_WRITE_BACK) != 0;

  Line tag[kMaxSlots];
  uint used[kMaxSlots];  // when last; 0: empty
  uint valid[kMaxSlots];
  uint dirty[kMaxSlots];
  [[unroll]] for (uint s = 0; s < kMaxSlots; ++s) {
    const uint way = s * gl_SubgroupSize + lane;
    tag[s] = Line(0);
    used[s] = kNoWay;
    valid[s] = 0;
    dirty[s] = 0;
    if (s < kSlots && way < arguments.ways) {
      used[s] = 0;
      if (arguments.skipped != 0) {
        const uint at = sequence * arguments.ways + way;
        tag[s] = Lines(arguments.tags).at[at];
        used[s] = Words(arguments.states).at[2 * at];
        const uint both = Words(arguments.states).at[2 * at + 1];
        valid[s] = both & 0xFFu;
        dirty[s] = both >> 8;
      }
    }
  }

  uint hits = 0;
  uint sector_misses = 0;
  uint evictions = 0;
  uint filled = 0;
  uint written = 0;
  for (uint base = begin; base < stop; base += gl_SubgroupSize) {
    const uint fetched = min(gl_SubgroupSize, stop - base);
    Line own_line = Line(0);
    uint own_flags = 0;
    if (lane < fetched) {
      const uint i = Words(arguments.order).at[base + lane];
      own_line = Lines(arguments.lines).at[i];
      own_flags = Halves(arguments.flags).at[i];
    }
    for (uint a = 0; a < fetched; ++a) {
      const Line line = shuffled(own_line, a);
      const uint flags = subgroupShuffle(own_flags, a);
      const uint wanted = flags & 0xFFu;
      const bool store = (flags & RR_EXACT_STORE) != 0;
      uint found = kNoWay;
      uint oldest = kNoWay;
      uint victim = 0;
      [[unroll]] for (uint s = 0; s < kMaxSlots; ++s) {
        if (s < kSlots) {
          if (tag[s] == line && used[s] != 0 && used[s] != kNoWay) {
            found = s;
          }
          if (used[s] < oldest) {
            oldest = used[s];
            victim = s;
          }
        }
      }
      const bool there = subgroupAny(found != kNoWay);
      uint slot = found;
      if (!there) {
        if (store && !allocate) {
          written += lane == 0 ? bitCount(wanted) : 0;
          continue;
        }
        // Times are different except for empty ways, which are interchangeable.
        const uvec4 candidates = subgroupBallot(oldest == subgroupMin(oldest));
        slot = lane == subgroupBallotFindLSB(candidates) ? victim : kNoWay;
      }
      [[unroll]] for (uint s = 0; s < kMaxSlots; ++s) {
        if (s < kSlots && s == slot) {
          if (!there) {
            evictions += used[s] != 0 ? 1 : 0;
            written += bitCount(dirty[s]);
            tag[s] = line;
            valid[s] = 0;
            dirty[s] = 0;
          }
          const uint missing = wanted & ~valid[s];
          if (there) {
            hits += missing == 0 ? 1 : 0;
            sector_misses += missing == 0 ? 0 : 1;
          }
          if (!store) {
            filled += bitCount(missing);
            valid[s] |= wanted;
          } else {
            valid[s] |= allocate ? wanted : 0;
            const uint kept = write_back ? wanted & valid[s] : 0;
            dirty[s] |= kept;
            written += bitCount(wanted ^ kept);
          }
          used[s] = base + a - first + 1;
        }
      }
    }
  }

  [[unroll]] for (uint s = 0; s < kMaxSlots; ++s) {
    const uint way = s * gl_SubgroupSize + lane;
    if (s < kSlots && way < arguments.ways) {
      const uint at = sequence * arguments.ways + way;
      Lines(arguments.tags).at[at] = tag[s];
      Words(arguments.states).at[2 * at] = used[s];
      Words(arguments.states).at[2 * at + 1] = valid[s] | dirty[s] << 8;
    }
  }
  add(sequence, 0, hits);
  add(sequence, 1, sector_misses);
  add(sequence, 2, evictions);
  add(sequence, 3, filled);
  add(sequence, 4, written);
}
