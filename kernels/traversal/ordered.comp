// Ordered traversal: instances, nodes and single primitives of both levels wait in one queue per ray
// (traversal/kernels/pending_traversal.hpp, traversal/models/ordered.cpp).
//
// The queue is a heap in device memory, by entry, then by arrival; slot i of all rays of the launch is contiguous. A
// ray whose queue overflows is marked, and the host traces it again with a longer one.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#include "kernels/shaders/common.glsl"
#include "kernels/traversal/records.h"

layout(local_size_x_id = 0) in;
layout(constant_id = 0) const uint kThreads = 64;
layout(constant_id = 1) const uint kLayout = 2;
layout(constant_id = 2) const uint kCounters = 1;
layout(constant_id = 3) const uint kLog = 0;  // counts rows, or writes them where push.row_at is not 0
layout(constant_id = 4) const uint kAnswers = 0;
layout(constant_id = 5) const uint kCountBits = 2;
layout(constant_id = 6) const uint kBackward = 0;
const uint kFilter = 1u;

layout(push_constant, scalar) uniform Push { TracePush push; };

#include "kernels/traversal/search.glsl"
#include "kernels/traversal/nodes.glsl"

const uint kChild = 0u;
const uint kInstance = 1u;
const uint kPrimitive = 2u;

const uint kNowhere = 0xFFFFFFFEu;  // in visit.instance: `space` is not computed yet

uint waiting;
uint joined;
uint overflowed;

// Words: entry distance; arrival, and the kind in the low two bits; the instance that it belongs to or opens (kNone:
// the top level); a child's word, or a primitive's place.
uvec4 heap_get(uint slot) {
  return Quads(push.heap_at + (uint64_t(slot) * push.rays + row) * 16ul).at[0];
}
void heap_put(uint slot, uvec4 entry) {
  Quads(push.heap_at + (uint64_t(slot) * push.rays + row) * 16ul).at[0] = entry;
}

bool comes_before(uvec4 a, uvec4 b) {
  const float x = uintBitsToFloat(a.x);
  const float y = uintBitsToFloat(b.x);
  return x != y ? x < y : a.y < b.y;
}

void join_queue(float entry, uint kind, uint instance, uint word) {
  if (waiting == push.heap_entries) {
    overflowed = 1u;
    done = true;
    return;
  }
  const uvec4 joining = uvec4(floatBitsToUint(entry), joined++ << 2 | kind, instance, word);
  uint slot = waiting++;
  while (slot > 0u) {
    const uint parent = (slot - 1u) / 2u;
    const uvec4 above = heap_get(parent);
    if (!comes_before(joining, above)) {
      break;
    }
    heap_put(slot, above);
    slot = parent;
  }
  heap_put(slot, joining);
  counters.stack_depth = max(counters.stack_depth, waiting);
}

uvec4 leave_queue() {
  const uvec4 first = heap_get(0u);
  const uvec4 last = heap_get(--waiting);
  uint slot = 0u;
  while (true) {
    uint child = 2u * slot + 1u;
    if (child >= waiting) {
      break;
    }
    uvec4 lesser = heap_get(child);
    if (child + 1u < waiting) {
      const uvec4 other = heap_get(child + 1u);
      if (comes_before(other, lesser)) {
        lesser = other;
        ++child;
      }
    }
    if (!comes_before(lesser, last)) {
      break;
    }
    heap_put(slot, lesser);
    slot = child;
  }
  heap_put(slot, last);
  return first;
}

// Makes `space` and `visit` those of an instance that was entered before, or of the top level.
void go_to(uint instance) {
  if (visit.instance == instance) {
    return;
  }
  // First of the top level, where an instance's entry is tested.
  bool stale = visit.instance == kNowhere || !visit.identity;
  visit.instance = instance;
  visit.identity = true;
  [[dont_unroll]] for (int level = 0; level < 2; ++level) {
    if (stale) {
      space = make_box_ray(visited_ray(), t_min);
    }
    if (instance == kNone || level == 1) {
      return;
    }
    InstanceRef instances = InstanceRef(SceneRef(push.scene).it.instances);
    const vec3 low = world_low(instance);
    const vec3 high = world_high(instance);
    const uint bits = instances.at[instance].bits;
    visit.entry = meet(low, high, space, limit).entry;
    visit.blas = instances.at[instance].blas;
    visit.flags = (bits >> 8) & 0xFFu;
    visit.identity = ((bits >> 16) & 1u) != 0u;
    stale = !visit.identity;
  }
}

void visit_node(uint record, uint64_t nodes, uint64_t memory_nodes) {
  ++counters.nodes;
  const uint bytes = kLayout == kCompressed8 ? 80u : kLayout == kWide8 ? 256u : 64u;
  log_access(memory_nodes + uint64_t(record) * bytes, bytes, kKindNode);
  meet_node(nodes, record);
  counters.boxes += boxes;
  const int kWidth = kLayout == kBinary ? 2 : 8;
  [[unroll]] for (int slot = 0; slot < 8; ++slot) {
    if (slot < kWidth && (met >> slot & 1u) != 0u) {
      join_queue(entry_of[slot], kChild, visit.instance, child_word(slot));
    }
  }
}

void meet_instance(uint instance) {
  // `enter` overwrites the visit; `space` stays that of the top level.
  if (enter(instance)) {
    join_queue(visit.entry, kInstance, instance, 0u);
  }
  visit.instance = kNone;
  visit.identity = true;
}

void meet_primitive(uint64_t primitives, uint place) {
  const uint64_t at = primitives + uint64_t(place) * 48ul;
  const uvec4 r0 = Quads(at).at[0];
  const uvec4 r1 = Quads(at).at[1];
  vec3 low = uintBitsToFloat(r0.xyz);
  vec3 high = uintBitsToFloat(r1.xyz);
  if ((r1.w & RAYREPLAY_GEOMETRY_BOX) == 0u) {
    const vec3 a = low;
    const vec3 b = high;
    const vec3 c = uintBitsToFloat(Quads(at).at[2].xyz);
    for (int axis = 0; axis < 3; ++axis) {
      low[axis] = std_min(std_min(a[axis], b[axis]), c[axis]);
      high[axis] = std_max(std_max(a[axis], b[axis]), c[axis]);
    }
  }
  const BoxEntry entry = meet(low, high, space, limit);
  if (entry.met) {
    join_queue(entry.entry, kPrimitive, visit.instance, place);
  }
}

void visit_child(uint instance, uint word) {
  const bool top = instance == kNone;
  SceneRef scene = SceneRef(push.scene);
  LevelRef levels = LevelRef(scene.it.levels);
  const uint kShift = 32u - kCountBits;
  const uint count = word >> kShift;
  const uint index = word & ((1u << kShift) - 1u);
  if (count == 0u) {
    visit_node(index, top ? scene.it.top_nodes : levels.at[visit.blas].nodes,
               top ? scene.it.memory_top_nodes : levels.at[visit.blas].memory_nodes);
    return;
  }
  ++counters.leaves;
  for (uint i = 0u; i < count; ++i) {
    if (top) {
      meet_instance(Words(scene.it.top_references).at[index + i]);
    } else {
      meet_primitive(levels.at[visit.blas].primitives, index + i);
    }
  }
}

void main() {
  const uint ray = (gl_WorkGroupID.x + push.first_group) * kThreads + gl_LocalInvocationIndex;
  if (ray >= push.rays) {
    return;
  }
  log_row = 0ul;
  if (kLog != 0u && push.row_at != 0ul) {
    log_row = Longs(push.row_first_at + uint64_t(ray) * 8ul).at[0];
  }
  waiting = 0u;
  joined = 0u;
  overflowed = 0u;
  visit.instance = kNowhere;
  if (begin_search(ray)) {
    join_queue(t_min, kChild, kNone, 0u);
  }
  while (waiting > 0u && !done) {
    const uvec4 next = leave_queue();
    if (uintBitsToFloat(next.x) > limit) {
      continue;
    }
    const uint kind = next.y & 3u;
    if (kind == kInstance) {
      join_queue(uintBitsToFloat(next.x), kChild, next.z, 0u);
      continue;
    }
    go_to(next.z);
    if (kind == kChild) {
      visit_child(next.z, next.w);
    } else {
      test_primitive(LevelRef(SceneRef(push.scene).it.levels).at[visit.blas].primitives, next.w);
    }
  }
  end_search();
  Words(push.overflow_at).at[ray] = overflowed;
  if (kLog != 0u && push.row_at == 0ul) {
    Words(push.row_count_at + uint64_t(ray) * 4ul).at[0] = uint(log_row);
  }
}
