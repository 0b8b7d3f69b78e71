// Probes that count executions: the first active lane of a group adds for all of them. A counter has some of these
// cells, a u64 each, in this order: lanes; groups; groups with one value in all lanes; groups with one address in all
// lanes. `cell` is the index of its first cell. Linked like the probes of events.comp.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
#extension GL_EXT_shader_atomic_int64 : require
#include "capture/instrument/probes/vote.h"
#include "capture/instrument/probes/constants.h"

layout(local_size_x = 1) in;

layout(constant_id = RR_CONST_WIDE) const bool kWide = false;

layout(buffer_reference, buffer_reference_align = 8, std430) buffer Cells {
  uint64_t number[4];
};

uint lanes_of(const uvec4 together) {
  return uint(bitCount(together.x)) + (kWide ? uint(bitCount(together.y)) : 0u);
}

bool has_all(const uvec4 lanes, const uvec4 together) {
  return lanes.x == together.x && (!kWide || lanes.y == together.y);
}

void rr_count_lanes(const uint64_t counters, const uint cell) {
  uvec4 together = vote(true);
  if (is_first(together)) {
    atomicAdd(Cells(counters + uint64_t(cell) * 8ul).number[0], uint64_t(lanes_of(together)));
  }
}

void rr_count_both(const uint64_t counters, const uint cell) {
  uvec4 together = vote(true);
  if (is_first(together)) {
    Cells cells = Cells(counters + uint64_t(cell) * 8ul);
    atomicAdd(cells.number[0], uint64_t(lanes_of(together)));
    atomicAdd(cells.number[1], 1ul);
  }
}

// same: this lane has the leader's value.
void rr_count_same(const uint64_t counters, const uint cell, const bool same) {
  uvec4 together = vote(true);
  uvec4 equal = vote(same);
  if (is_first(together)) {
    Cells cells = Cells(counters + uint64_t(cell) * 8ul);
    atomicAdd(cells.number[0], uint64_t(lanes_of(together)));
    atomicAdd(cells.number[1], 1ul);
    if (has_all(equal, together)) {
      atomicAdd(cells.number[2], 1ul);
    }
  }
}

void rr_count_same_both(const uint64_t counters, const uint cell, const bool value, const bool address) {
  uvec4 together = vote(true);
  uvec4 values = vote(value);
  uvec4 addresses = vote(address);
  if (is_first(together)) {
    Cells cells = Cells(counters + uint64_t(cell) * 8ul);
    atomicAdd(cells.number[0], uint64_t(lanes_of(together)));
    atomicAdd(cells.number[1], 1ul);
    if (has_all(values, together)) {
      atomicAdd(cells.number[2], 1ul);
    }
    if (has_all(addresses, together)) {
      atomicAdd(cells.number[3], 1ul);
    }
  }
}

// Counts the components of a value, each in its table; the tables lie one behind the other. A table has, behind the
// cells of lanes and groups, slots of a key, lanes, and groups whose lanes all had the value. A key is the tables' mark
// above the value; a slot with any other mark is free, so that nobody needs to empty the tables. A slot that has a key
// keeps it, and a value looks at all slots in one order. So a value either has a slot from its first execution on, or
// finds none at any time: the counts of a table are whole. The lanes that have the leader's value add once, the others
// each for itself: no lane waits for another.
void rr_count_values(const uint64_t counters, const uint cell, const uint slots, const uint mark, const uint components,
                     const uvec4 words) {
  uvec4 together = vote(true);
  bool low = !kWide || together.x != 0u;
  uint leader = low ? uint(findLSB(together.x)) : 32u + uint(findLSB(together.y));
  bool first = is_first(together);
  uint64_t table = counters + uint64_t(cell) * 8ul;
  for (uint c = 0u; c < components; ++c) {
    uint value = words[c];
    bool same = of_lane(value, leader) == value;
    uvec4 equal = vote(same);
    if (first) {
      Cells cells = Cells(table);
      atomicAdd(cells.number[0], uint64_t(lanes_of(together)));
      atomicAdd(cells.number[1], 1ul);
    }
    if (first || !same) {
      uint64_t key = (uint64_t(mark) << 32) | uint64_t(value);
      uint64_t expected = key;
      uint slot = ((value ^ (value >> 16)) * 0x9E3779B1u >> 8) % slots;
      bool found = false;
      for (uint i = 0u; i < slots;) {
        uint64_t held = atomicCompSwap(Cells(table + 16ul + uint64_t(slot) * 24ul).number[0], expected, key);
        found = held == key || held == expected;
        if (found) {
          break;
        }
        // A free slot is tried once more, to take it; it changes once, when it is taken.
        bool taken = uint(held >> 32) == mark;
        expected = taken ? key : held;
        slot = !taken ? slot : slot + 1u == slots ? 0u : slot + 1u;
        i += taken ? 1u : 0u;
      }
      if (found) {
        Cells at = Cells(table + 16ul + uint64_t(slot) * 24ul);
        atomicAdd(at.number[1], first ? uint64_t(lanes_of(equal)) : 1ul);
        if (first && has_all(equal, together)) {
          atomicAdd(at.number[2], 1ul);
        }
      }
    }
    table += 16ul + uint64_t(slots) * 24ul;
  }
}

// The lane that the others are compared with.
uint rr_leader() {
  uvec4 together = vote(true);
  return !kWide || together.x != 0u ? uint(findLSB(together.x)) : 32u + uint(findLSB(together.y));
}

// For fragments. Helper invocations run with the others, and write nothing: they neither count nor lead.
void rr_count_lanes_real(const uint64_t counters, const uint cell, const bool helper) {
  if (!helper) {
    rr_count_lanes(counters, cell);
  }
}
void rr_count_both_real(const uint64_t counters, const uint cell, const bool helper) {
  if (!helper) {
    rr_count_both(counters, cell);
  }
}
void rr_count_same_real(const uint64_t counters, const uint cell, const bool helper, const bool same) {
  if (!helper) {
    rr_count_same(counters, cell, same);
  }
}
void rr_count_same_both_real(const uint64_t counters, const uint cell, const bool helper, const bool value,
                             const bool address) {
  if (!helper) {
    rr_count_same_both(counters, cell, value, address);
  }
}
void rr_count_values_real(const uint64_t counters, const uint cell, const bool helper, const uint slots,
                          const uint mark, const uint components, const uvec4 words) {
  if (!helper) {
    rr_count_values(counters, cell, slots, mark, components, words);
  }
}
uint rr_leader_real(const bool helper) {
  uvec4 real = vote(!helper);
  bool low = !kWide || real.x != 0u;
  uint leader = low ? uint(findLSB(real.x)) : 32u + uint(findLSB(real.y));
  return real.x == 0u && real.y == 0u ? 0u : leader;
}

bool rr_same1(const uint leader, const uint words) {
  return of_lane(words, leader) == words;
}
bool rr_same2(const uint leader, const uvec2 words) {
  return all(equal(of_lane(words, leader), words));
}
bool rr_same3(const uint leader, const uvec3 words) {
  return all(equal(of_lane(words, leader), words));
}
bool rr_same4(const uint leader, const uvec4 words) {
  return all(equal(of_lane(words, leader), words));
}

layout(push_constant) uniform Arguments {
  uint64_t counters;
  uint cell;
  uvec4 words;
  uint helper;
} a;

void main() {
  uint leader = rr_leader();
  rr_count_lanes(a.counters, a.cell);
  rr_count_both(a.counters, a.cell);
  rr_count_same(a.counters, a.cell, rr_same1(leader, a.words.x));
  rr_count_same(a.counters, a.cell, rr_same2(leader, a.words.xy));
  rr_count_values(a.counters, a.cell, 4u, 1u, 2u, a.words);
  rr_count_same_both(a.counters, a.cell, rr_same3(leader, a.words.xyz), rr_same4(leader, a.words));
  bool helper = a.helper != 0u;
  leader = rr_leader_real(helper);
  rr_count_lanes_real(a.counters, a.cell, helper);
  rr_count_both_real(a.counters, a.cell, helper);
  rr_count_same_real(a.counters, a.cell, helper, rr_same1(leader, a.words.y));
  rr_count_same_both_real(a.counters, a.cell, helper, helper, helper);
  rr_count_values_real(a.counters, a.cell, helper, 4u, 1u, 2u, a.words);
}
