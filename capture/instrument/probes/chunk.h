// The chunks of record.h: opens one for the active lanes. For probes that append records.
//
// Before it: vote.h; RR_SAMPLED, the constant that says whether some threads are not recorded, and RR_SAMPLED_EVERY where only
// threads whose id is a multiple of it are.
#ifndef RAYREPLAY_PROBE_CHUNK_H
#define RAYREPLAY_PROBE_CHUNK_H

layout(constant_id = RR_CONST_EVENTS) const uint64_t kEvents = 0;
layout(constant_id = RR_CONST_EVENTS_WORDS) const uint64_t kEventsWords = 0;
layout(constant_id = RR_CONST_CONTROL) const uint64_t kControl = 0;
layout(constant_id = RR_CONST_WIDE) const bool kWide = false;
layout(constant_id = RR_CONST_GATE) const bool kGate = false;
layout(constant_id = RR_CONST_LARGE) const bool kLarge = false;      // 2^32 words or more
layout(constant_id = RR_CONST_SAMPLED) const bool kSampled = false;  // a window or every n-th thread
layout(constant_id = RR_CONST_WINDOW_X) const uint kWindowX = 0;
layout(constant_id = RR_CONST_WINDOW_Y) const uint kWindowY = 0;
layout(constant_id = RR_CONST_WINDOW_WIDTH) const uint kWindowWidth = 0;
layout(constant_id = RR_CONST_WINDOW_HEIGHT) const uint kWindowHeight = 0;
layout(constant_id = RR_CONST_EVERY) const uint kEvery = 1;

layout(buffer_reference, buffer_reference_align = 4, std430) buffer Words {
  uint w[];
};
layout(buffer_reference, buffer_reference_align = 256, std430) buffer Control {
  layout(offset = RR_CONTROL_COUNTER) uint64_t counter;
  layout(offset = RR_CONTROL_DROPPED) uint dropped[RR_KINDS];
  layout(offset = RR_CONTROL_GATE) uint gate;
};

uint thread_of(const uvec3 id, const uvec3 size) {
  return id.x + size.x * (id.y + size.y * id.z);
}

// Branch-free, so that the group is whole at the following ballot.
bool sampled(const uvec3 id, const uvec3 size) {
  uint misses = uint(id.x - kWindowX >= kWindowWidth) | uint(id.y - kWindowY >= kWindowHeight) |
                uint(thread_of(id, size) % kEvery != 0u);
#ifdef RR_SAMPLED_EVERY
  misses |= uint(thread_of(id, size) % RR_SAMPLED_EVERY != 0u);
#endif
  return misses == 0u;
}

uint device_clock() {
#ifdef RR_CLOCK
  return clockRealtime2x32EXT().x;
#else
  return 0u;
#endif
}

// A lane's place in its group's chunk: field k goes to word k · n after `first`. first 0: nothing to write.
struct Chunk {
  uint64_t first;
  uint n;
};

// Appends a chunk for the active lanes and writes its header. `name`: w0 without its flags.
Chunk open_chunk(const uint kind, const uint fields, const uint name, const uint place, const uvec3 id,
                 const uvec3 size) {
  Chunk chunk = Chunk(0ul, 0u);
  if (kGate && Control(kControl).gate == 0u) {
    return chunk;
  }
  uvec4 together = vote(true);
  uvec4 recorded = together;
  bool mine = true;
  if (RR_SAMPLED) {
    mine = sampled(id, size);
    recorded = vote(mine) & together;
  }
  uint n = uint(bitCount(recorded.x)) + (kWide ? uint(bitCount(recorded.y)) : 0u);
  if (n == 0u) {
    return chunk;
  }
  bool partial = recorded.x != together.x || (kWide && recorded.y != together.y);
  uint header = uint(RR_HEADER_WORDS) + (kWide ? 1u : 0u) + (partial ? (kWide ? 2u : 1u) : 0u);
  uint words = header + fields * n;
  uint leader = !kWide || together.x != 0u ? uint(findLSB(together.x)) : 32u + uint(findLSB(together.y));
  uint64_t base = 0ul;
  if (is_first(together)) {
    base = atomicAdd(Control(kControl).counter, uint64_t(words));
    if (base + words > kEventsWords) {
      base = ~0ul;
      atomicAdd(Control(kControl).dropped[kind], n);
    } else {
      Words chunk_words = Words(kEvents + base * 4ul);
      chunk_words.w[0] = kind | name | (kWide ? RR_WIDE : 0u) | (partial ? RR_PARTIAL : 0u);
      chunk_words.w[1] = together.x;
      chunk_words.w[2] = place | n << 20;
      chunk_words.w[3] = device_clock();
      uint next = uint(RR_HEADER_WORDS);
      if (kWide) {
        chunk_words.w[next++] = together.y;
      }
      if (partial) {
        chunk_words.w[next++] = recorded.x;
        if (kWide) {
          chunk_words.w[next] = recorded.y;
        }
      }
    }
  }
  // Two halves: shuffles of 64-bit values need a feature of their own. Buffers below 2^32 words need the low one only.
  bool fits;
  if (!kLarge) {
    uint low = of_lane(uint(base), leader);
    fits = low != 0xFFFFFFFFu;
    base = uint64_t(low);
  } else {
    uint low = of_lane(uint(base), leader);
    uint high = of_lane(uint(base >> 32), leader);
    base = uint64_t(low) | uint64_t(high) << 32;
    fits = base != ~0ul;
  }
  if (fits && mine) {
    uint rank = subgroupBallotExclusiveBitCount(recorded);
    chunk.first = kEvents + (base + header + rank) * 4ul;
    chunk.n = n;
  }
  return chunk;
}

uint name_of(const uint shader, const uint site) {
  return (shader & 0xFFFFu) << 8 | site << 24;
}

uint place_of(const uint sm, const uint warp) {
  return (sm & 0xFFFu) | (warp & 0xFFu) << 12;
}

#endif
