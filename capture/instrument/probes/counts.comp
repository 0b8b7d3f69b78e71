// Probes that count executions: the first active lane of a group adds for all of them. A counter has some of these
// cells, a u64 each, in this order: lanes; groups that no other cell counts; groups whose lanes all had one value;
// groups whose lanes all had one address; groups of both kinds (counter_layout.hpp). `cell` is the index of its first
// cell. A group adds to the cell of lanes, if there is one, and to one of the others. Linked like the probes of
// events.comp.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
#extension GL_EXT_shader_atomic_int64 : require
#extension GL_KHR_memory_scope_semantics : require
#include "capture/instrument/probes/vote.h"
#include "capture/instrument/probes/constants.h"

layout(local_size_x = 1) in;

layout(constant_id = RR_CONST_WIDE) const bool kWide = false;

layout(buffer_reference, buffer_reference_align = 8, std430) buffer Cells {
  uint64_t number[5];
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

void rr_count_groups(const uint64_t counters, const uint cell) {
  if (is_first(vote(true))) {
    atomicAdd(Cells(counters + uint64_t(cell) * 8ul).number[0], 1ul);
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

// `same`: this lane has the leader's value. Cells: lanes, groups, uniform groups.
void rr_count_same(const uint64_t counters, const uint cell, const bool same) {
  uvec4 together = vote(true);
  uvec4 equal = vote(same);
  if (is_first(together)) {
    Cells cells = Cells(counters + uint64_t(cell) * 8ul);
    atomicAdd(cells.number[0], uint64_t(lanes_of(together)));
    atomicAdd(cells.number[has_all(equal, together) ? 2 : 1], 1ul);
  }
}

// Cells: lanes, groups, and those of one value, one address, both.
void rr_count_same_both(const uint64_t counters, const uint cell, const bool value, const bool address) {
  uvec4 together = vote(true);
  uint agreed = (has_all(vote(value), together) ? 1u : 0u) + (has_all(vote(address), together) ? 2u : 0u);
  if (is_first(together)) {
    Cells cells = Cells(counters + uint64_t(cell) * 8ul);
    atomicAdd(cells.number[0], uint64_t(lanes_of(together)));
    atomicAdd(cells.number[1u + agreed], 1ul);
  }
}

// rr_count_same for counters whose lanes and groups are those of another one. Cells: uniform groups.
void rr_count_agreed(const uint64_t counters, const uint cell, const bool same) {
  uvec4 together = vote(true);
  uvec4 equal = vote(same);
  if (is_first(together) && has_all(equal, together)) {
    atomicAdd(Cells(counters + uint64_t(cell) * 8ul).number[0], 1ul);
  }
}

// rr_count_same_both for such counters. Cells: groups of one value, one address, both.
void rr_count_agreed_both(const uint64_t counters, const uint cell, const bool value, const bool address) {
  uvec4 together = vote(true);
  uint agreed = (has_all(vote(value), together) ? 1u : 0u) + (has_all(vote(address), together) ? 2u : 0u);
  if (is_first(together) && agreed != 0u) {
    atomicAdd(Cells(counters + uint64_t(cell + agreed - 1u) * 8ul).number[0], 1ul);
  }
}

// For cells that an older content serves as well as the newest: keys change at most once, by an atomic that repeats the
// test, and filters only spare work. So the smallest scope is enough.
uint64_t load_cell(const uint64_t address) {
  return atomicLoad(Cells(address).number[0], gl_ScopeSubgroup, gl_StorageSemanticsNone, gl_SemanticsRelaxed);
}

uint hash_of(const uint value) {
  return (value ^ (value >> 16)) * 0x9E3779B1u;
}

// Counts the components of a value, each in its table; the tables lie one behind the other. A table has filters, a u64
// for each four slots, and then slots: a key, lanes, and groups whose lanes all had the value. A key is the tables'
// mark above the value; a slot with any other mark is free, so that nobody needs to empty the tables. A slot that has a
// key keeps it, and a value looks at all slots in one order. So a value either has a slot from its first execution on,
// or finds none at any time: the counts of a table are whole. The lanes that have the leader's value add once, the
// others each for itself: no lane waits for another.
//
// A value that finds no slot has seen all keys of a full table, and these stay. It writes the filter of its first slot:
// the mark in the upper half, and in the lower half a bit for each key with the same filter. Later values whose bit is
// not set are in no slot, so they need not look. A filter with its mark is right, because it is written whole.
void rr_count_values(const uint64_t counters, const uint cell, const uint slots, const uint mark, const uint components,
                     const uvec4 words) {
  uvec4 together = vote(true);
  bool low = !kWide || together.x != 0u;
  uint leader = low ? uint(findLSB(together.x)) : 32u + uint(findLSB(together.y));
  bool first = is_first(together);
  uint64_t table = counters + uint64_t(cell) * 8ul;
  uint filters = (slots + 3u) / 4u;
  for (uint c = 0u; c < components; ++c) {
    uint value = words[c];
    bool same = of_lane(value, leader) == value;
    uvec4 equal = vote(same);
    if (first || !same) {
      uint64_t key = (uint64_t(mark) << 32) | uint64_t(value);
      uint64_t table_slots = table + uint64_t(filters) * 8ul;
      uint hash = hash_of(value);
      uint slot = (hash >> 8) % slots;
      uint64_t of_near = table + uint64_t(slot / 4u) * 8ul;
      uint64_t known = load_cell(of_near);
      bool found = false;
      if (uint(known >> 32) != mark || (uint(known) >> (hash >> 27) & 1u) != 0u) {
        uint bits = 0u;
        uint near = slot / 4u;
        for (uint i = 0u; i < slots && !found; ++i) {
          uint64_t at = table_slots + uint64_t(slot) * 24ul;
          uint64_t held = load_cell(at);
          if (uint(held >> 32) != mark) {
            // A free slot changes once, when it is taken.
            uint64_t before = atomicCompSwap(Cells(at).number[0], held, key);
            held = uint(before >> 32) != mark ? key : before;
          }
          found = held == key;
          uint other = hash_of(uint(held));
          bits |= (other >> 8) % slots / 4u == near ? 1u << (other >> 27) : 0u;
          slot = found ? slot : slot + 1u == slots ? 0u : slot + 1u;
        }
        if (!found) {
          atomicStore(Cells(of_near).number[0], (uint64_t(mark) << 32) | uint64_t(bits), gl_ScopeDevice,
                      gl_StorageSemanticsNone, gl_SemanticsRelaxed);
        }
      }
      if (found) {
        Cells at = Cells(table_slots + uint64_t(slot) * 24ul);
        atomicAdd(at.number[1], first ? uint64_t(lanes_of(equal)) : 1ul);
        if (first && has_all(equal, together)) {
          atomicAdd(at.number[2], 1ul);
        }
      }
    }
    table += uint64_t(filters + slots * 3u) * 8ul;
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
void rr_count_groups_real(const uint64_t counters, const uint cell, const bool helper) {
  if (!helper) {
    rr_count_groups(counters, cell);
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
void rr_count_agreed_real(const uint64_t counters, const uint cell, const bool helper, const bool same) {
  if (!helper) {
    rr_count_agreed(counters, cell, same);
  }
}
void rr_count_agreed_both_real(const uint64_t counters, const uint cell, const bool helper, const bool value,
                               const bool address) {
  if (!helper) {
    rr_count_agreed_both(counters, cell, value, address);
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
  rr_count_groups(a.counters, a.cell);
  rr_count_both(a.counters, a.cell);
  rr_count_agreed(a.counters, a.cell, a.helper == 0u);
  rr_count_agreed_both(a.counters, a.cell, a.helper == 0u, a.helper == 1u);
  rr_count_same(a.counters, a.cell, rr_same1(leader, a.words.x));
  rr_count_same(a.counters, a.cell, rr_same2(leader, a.words.xy));
  rr_count_values(a.counters, a.cell, 4u, 1u, 2u, a.words);
  rr_count_same_both(a.counters, a.cell, rr_same3(leader, a.words.xyz), rr_same4(leader, a.words));
  bool helper = a.helper != 0u;
  leader = rr_leader_real(helper);
  rr_count_lanes_real(a.counters, a.cell, helper);
  rr_count_groups_real(a.counters, a.cell, helper);
  rr_count_both_real(a.counters, a.cell, helper);
  rr_count_agreed_real(a.counters, a.cell, helper, helper);
  rr_count_agreed_both_real(a.counters, a.cell, helper, helper, helper);
  rr_count_same_real(a.counters, a.cell, helper, rr_same1(leader, a.words.y));
  rr_count_same_both_real(a.counters, a.cell, helper, helper, helper);
  rr_count_values_real(a.counters, a.cell, helper, 4u, 1u, 2u, a.words);
}
