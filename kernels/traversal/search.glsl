// One ray's search: traversal/kernels/search.hpp in GLSL. The including kernel declares before: push constants `push`
// with scene, ray_at, hit_at and the answers; the constants kCounters, kLog, kAnswers.
//
// The closest hit so far is in the hit's record in memory, its distance in `limit`: few rays change it often, and
// registers limit the number of rays in flight.
#include "kernels/traversal/space.glsl"

const uint kFlagOpaque = 0x01u;
const uint kFlagNoOpaque = 0x02u;
const uint kFlagTerminateOnFirstHit = 0x04u;
const uint kFlagCullBackFacing = 0x10u;
const uint kFlagCullFrontFacing = 0x20u;
const uint kFlagCullOpaque = 0x40u;
const uint kFlagCullNoOpaque = 0x80u;
const uint kFlagSkipTriangles = 0x100u;
const uint kFlagSkipBoxes = 0x200u;

const uint kInstanceCullDisable = 1u;
const uint kInstanceFlipFacing = 2u;
const uint kInstanceForceOpaque = 4u;
const uint kInstanceForceNoOpaque = 8u;

const uint kNone = 0xFFFFFFFFu;

// trace::kHitKind…
const uint kFrontFacing = 0xFEu;
const uint kBackFacing = 0xFFu;

const uint kKindNode = 0u;
const uint kKindIndex = 1u;
const uint kKindVertex = 2u;
const uint kKindInstance = 3u;
const uint kKindBox = 4u;

layout(buffer_reference, scalar, buffer_reference_align = 4) readonly buffer RayRef { RayRecord at[]; };
layout(buffer_reference, scalar, buffer_reference_align = 4) buffer HitRef { HitRecord at[]; };
layout(buffer_reference, scalar, buffer_reference_align = 4) buffer CounterRef { CounterRecord at[]; };
layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer SceneRef { SceneRecord it; };
layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer LevelRef { LevelRecord at[]; };
layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer InstanceRef { InstanceRecord at[]; };
layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer GeometryRef { GeometryRecord at[]; };
layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer AnswerRef { AnswerRecord it; };
layout(buffer_reference, scalar, buffer_reference_align = 4) readonly buffer CallRef { CallRecord at[]; };
layout(buffer_reference, scalar, buffer_reference_align = 4) readonly buffer ReportRef { ReportRecord at[]; };
layout(buffer_reference, scalar, buffer_reference_align = 16) readonly buffer PrimitiveRef { uvec4 at[]; };
layout(buffer_reference, scalar, buffer_reference_align = 16) writeonly buffer AccessRef { uvec4 at[]; };

uint row;         // the ray's, in this launch
uint flags;       // and cull mask, as RayRecord has them
float t_min;
float limit;      // the current t_max: nothing that is entered beyond it need be visited
bool done;
bool found;
CounterRecord counters;
uint unobserved;
uint64_t log_row;  // rows so far, or where the next one goes

// An instance that the ray has entered.
struct Visit {
  uint instance, blas;
  uint flags;
  bool identity;
  float entry;
};
Visit visit;
BoxRay space;  // of the level that is traversed

#include "kernels/traversal/triangle.glsl"

bool has(uint flag) {
  return (flags & flag) != 0u;
}

void log_access(uint64_t address, uint bytes, uint kind) {
  if (kLog != 0u) {
    if (push.row_at != 0ul) {
      AccessRef(push.row_at + log_row * 16ul).at[0] = uvec4(unpackUint2x32(address), bytes, kind);
    }
    ++log_row;
  }
}

PreciseRay world_ray() {
  const RayRecord ray = RayRef(push.ray_at).at[row];
  return PreciseRay(dvec3(ray.origin_x, ray.origin_y, ray.origin_z),
                    dvec3(ray.direction_x, ray.direction_y, ray.direction_z));
}

// The ray in the space of the visited instance.
PreciseRay visited_ray() {
  PreciseRay ray = world_ray();
  if (!visit.identity) {
    InstanceRef instances = InstanceRef(SceneRef(push.scene).it.instances);
    PreciseRay transformed;
    [[dont_unroll]] for (int i = 0; i < 3; ++i) {
      const double m0 = instances.at[visit.instance].to_object[i * 4];
      const double m1 = instances.at[visit.instance].to_object[i * 4 + 1];
      const double m2 = instances.at[visit.instance].to_object[i * 4 + 2];
      const double m3 = instances.at[visit.instance].to_object[i * 4 + 3];
      precise double o = m0 * ray.origin.x + m1 * ray.origin.y + m2 * ray.origin.z + m3;
      precise double d = m0 * ray.direction.x + m1 * ray.direction.y + m2 * ray.direction.z;
      transformed.origin[i] = o;
      transformed.direction[i] = d;
    }
    ray = transformed;
  }
  return ray;
}

bool is_finite(float x) {
  return (floatBitsToUint(x) & 0x7F800000u) != 0x7F800000u;
}
bool is_zero(float x) {
  return (floatBitsToUint(x) << 1) == 0u;
}

// False if the ray hits nothing without traversal. Otherwise `done` may be set: its t range is beyond floats.
bool begin_search(uint ray_row) {
  row = ray_row;
  done = true;
  found = false;
  counters = CounterRecord(0u, 0u, 0u, 0u, 0u, 0u, 0u, 0u, 0u);
  unobserved = 0u;
  HitRef(push.hit_at).at[row] = HitRecord(kInfinity, kNone, kNone, kNone, 0.0, 0.0, 0u);
  const RayRecord ray = RayRef(push.ray_at).at[row];
  const bool finite = is_finite(ray.origin_x) && is_finite(ray.origin_y) && is_finite(ray.origin_z) &&
                      is_finite(ray.direction_x) && is_finite(ray.direction_y) && is_finite(ray.direction_z);
  const bool moves = !(is_zero(ray.direction_x) && is_zero(ray.direction_y) && is_zero(ray.direction_z));
  if (!(finite && moves && ray.t_min <= ray.t_max) || SceneRef(push.scene).it.top_empty != 0u) {
    return false;
  }
  flags = ray.flags_and_mask;
  t_min = ray.t_min;
  limit = std_min(ray.t_max, kFarthest);
  done = !(t_min <= limit);
  visit.identity = true;
  return true;
}

void end_search() {
  if (kCounters != 0u && push.counter_at != 0ul) {
    CounterRef(push.counter_at).at[row] = counters;
  }
  if (kAnswers != 0u) {
    Words(push.unobserved_at).at[row] = unobserved;
  }
}

// --- shaders ---------------------------------------------------------------------------------------------------------

bool is_before(const CallRecord a, uint instance, uint geometry, uint primitive) {
  if (a.instance != instance) {
    return a.instance < instance;
  }
  return a.geometry != geometry ? a.geometry < geometry : a.primitive < primitive;
}

uint64_t long_at(uint64_t array, uint64_t i) {
  return Longs(array + i * 8ul).at[0];
}
CallRecord call_at(uint64_t array, uint64_t i) {
  return CallRef(array + i * 20ul).at[0];
}

// [first, last) of the ray's calls for the candidate.
void calls_of(uint instance, uint geometry, uint primitive, out uint64_t ray, out uint64_t first, out uint64_t last) {
  const AnswerRecord answers = AnswerRef(push.answers).it;
  const uint64_t place = push.first_place + row;
  ray = answers.ray_of_place != 0ul ? long_at(answers.ray_of_place, place) : place;
  uint64_t low = long_at(answers.offset, ray);
  const uint64_t end = long_at(answers.offset, ray + 1ul);
  uint64_t high = end;
  while (low < high) {
    const uint64_t middle = low + (high - low) / 2ul;
    if (is_before(call_at(answers.calls, middle), instance, geometry, primitive)) {
      low = middle + 1ul;
    } else {
      high = middle;
    }
  }
  first = low;
  last = low;
  while (last < end) {
    const CallRecord call = call_at(answers.calls, last);
    if (call.instance != instance || call.geometry != geometry || call.primitive != primitive) {
      break;
    }
    ++last;
  }
}

// ObservedShaders::intersect
bool ask_intersection(uint instance, uint geometry, uint primitive, out float t, out uint hit_kind) {
  t = 0.0;
  hit_kind = 0u;
  if (kAnswers == 0u) {
    return false;
  }
  uint64_t ray, first, last;
  calls_of(instance, geometry, primitive, ray, first, last);
  if (first == last) {
    ++unobserved;
    return false;
  }
  const AnswerRecord answers = AnswerRef(push.answers).it;
  const float from = Floats(answers.t_min + ray * 4ul).at[0];
  bool any = false;
  bool best_ignored = true;
  for (uint64_t i = first; i < last; ++i) {
    const CallRecord call = call_at(answers.calls, i);
    if ((call.reports & 0x80000000u) == 0u) {
      continue;
    }
    for (uint j = 0u; j < call.reports - 0x80000000u; ++j) {
      const ReportRecord report = ReportRef(answers.reports).at[call.first_report + j];
      if (!(report.t >= from && report.t <= limit)) {
        continue;
      }
      const bool ignored = (report.bits & 0x100u) != 0u;
      if (!any || (best_ignored && !ignored) || (best_ignored == ignored && report.t < t)) {
        any = true;
        t = report.t;
        hit_kind = report.bits & 0xFFu;
        best_ignored = ignored;
      }
    }
  }
  return any;
}

// ObservedShaders::accept
bool ask_any_hit(uint instance, uint geometry, uint primitive, float t, uint hit_kind) {
  if (kAnswers == 0u) {
    return true;
  }
  uint64_t ray, first, last;
  calls_of(instance, geometry, primitive, ray, first, last);
  if (first == last) {
    ++unobserved;
    return true;
  }
  const AnswerRecord answers = AnswerRef(push.answers).it;
  bool seen = false;
  for (uint64_t i = first; i < last; ++i) {
    const CallRecord call = call_at(answers.calls, i);
    const bool procedural = (call.reports & 0x80000000u) != 0u;
    for (uint j = 0u; j < (call.reports & 0x7FFFFFFFu); ++j) {
      const ReportRecord report = ReportRef(answers.reports).at[call.first_report + j];
      const bool same = !procedural || (report.t == t && (report.bits & 0xFFu) == hit_kind);
      if (same && (report.bits & 0x100u) == 0u) {
        return true;
      }
      seen = seen || same;
    }
  }
  return !seen;
}

// --- candidates ------------------------------------------------------------------------------------------------------

// Whether a hit in reach is nearer than the present one, or equally near and of a lower candidate.
bool counts(float t, uint instance, uint geometry, uint primitive) {
  if (t < limit || !found) {
    return true;
  }
  const HitRecord hit = HitRef(push.hit_at).at[row];
  if (instance != hit.instance) {
    return instance < hit.instance;
  }
  return geometry != hit.geometry ? geometry < hit.geometry : primitive < hit.primitive;
}

bool is_accepted(uint instance, uint geometry, uint primitive, float t, uint hit_kind, bool opaque) {
  if (opaque) {
    return true;
  }
  ++counters.any_hits;
  return ask_any_hit(instance, geometry, primitive, t, hit_kind);
}

// −0 becomes 0 as on the processor. By bits: compilers may replace x + 0 by x.
float without_sign_of_zero(float t) {
  return floatBitsToUint(t) == 0x80000000u ? 0.0 : t;
}

void take_hit(HitRecord hit) {
  hit.t = without_sign_of_zero(hit.t);
  HitRef(push.hit_at).at[row] = hit;
  found = true;
  limit = hit.t;
  done = has(kFlagTerminateOnFirstHit);
}

bool is_opaque(bool geometry_opaque) {
  if (has(kFlagOpaque)) {
    return true;
  }
  if (has(kFlagNoOpaque)) {
    return false;
  }
  if ((visit.flags & kInstanceForceOpaque) != 0u) {
    return true;
  }
  return (visit.flags & kInstanceForceNoOpaque) == 0u && geometry_opaque;
}

bool is_left_out(bool is_box, bool opaque) {
  return has(is_box ? kFlagSkipBoxes : kFlagSkipTriangles) || has(opaque ? kFlagCullOpaque : kFlagCullNoOpaque);
}

// Whether the pierced triangle lies in [t_min, limit]; raises t to the entries of the boxes.
bool is_reached(const vec3 a, const vec3 b, const vec3 c, inout float t) {
  if (!(t <= limit)) {
    return false;
  }
  vec3 low, high;
  for (int axis = 0; axis < 3; ++axis) {
    low[axis] = std_min(std_min(a[axis], b[axis]), c[axis]);
    high[axis] = std_max(std_max(a[axis], b[axis]), c[axis]);
  }
  BoxRay line = space;
  if (!(t >= t_min)) {
    // Entry of the whole line into the box; then as for any other.
    line.t_min = -kInfinity;
  }
  [[dont_unroll]] while (true) {
    const BoxEntry entry = meet(low, high, line, limit);
    if (line.t_min != t_min) {
      t = std_max(t, entry.entry);
      if (!(t >= t_min)) {
        return false;
      }
      line.t_min = t_min;
      continue;
    }
    if (!entry.met) {
      return false;
    }
    t = std_max(t, std_max(entry.entry, visit.entry));
    return t <= limit;
  }
}

void log_triangle(uint row_of_geometry, uint primitive) {
  if (push.row_at == 0ul) {
    log_row += 4ul;
    return;
  }
  const GeometryRecord geometry = GeometryRef(SceneRef(push.scene).it.geometries).at[row_of_geometry];
  log_access(geometry.memory_indices + uint64_t(primitive) * 12ul, 12u, kKindIndex);
  for (uint i = 0u; i < 3u; ++i) {
    const uint corner = Words(geometry.indices + uint64_t(primitive) * 12ul).at[i];
    const uint vertex = geometry.places == 0ul ? corner : Words(geometry.places).at[corner];
    log_access(geometry.memory_vertices + uint64_t(vertex) * 12ul, 12u, kKindVertex);
  }
}

void test_triangle(const vec3 a, const vec3 b, const vec3 c, uint geometry, uint primitive, bool opaque) {
  ++counters.triangles;
  if (kLog != 0u) {
    LevelRef levels = LevelRef(SceneRef(push.scene).it.levels);
    log_triangle(levels.at[visit.blas].first_geometry + geometry, primitive);
  }
  if (kFilter != 0u && !may_pierce(a, b, c)) {
    return;
  }
  TrianglePoint point;
  if (!pierces(visited_ray(), a, b, c, point)) {
    return;
  }
  const bool front = point.front != ((visit.flags & kInstanceFlipFacing) != 0u);
  if ((visit.flags & kInstanceCullDisable) == 0u && has(front ? kFlagCullFrontFacing : kFlagCullBackFacing)) {
    return;
  }
  vec3 tuv = distance_and_weights(point);
  float t = tuv.x;
  if (!is_reached(a, b, c, t) || !counts(t, visit.instance, geometry, primitive)) {
    return;
  }
  const uint kind = front ? kFrontFacing : kBackFacing;
  if (is_accepted(visit.instance, geometry, primitive, t, kind, opaque)) {
    const float u = tuv.y < 0.0 ? 0.0 : 1.0 < tuv.y ? 1.0 : tuv.y;
    precise float rest = 1.0 - u;
    const float v = tuv.z < 0.0 ? 0.0 : rest < tuv.z ? rest : tuv.z;
    take_hit(HitRecord(t, visit.instance, geometry, primitive, u, v, kind));
  }
}

void test_box(const vec3 low, const vec3 high, uint geometry, uint primitive, bool opaque) {
  if (kLog != 0u) {
    LevelRef levels = LevelRef(SceneRef(push.scene).it.levels);
    GeometryRef geometries = GeometryRef(SceneRef(push.scene).it.geometries);
    const uint row_of_geometry = levels.at[visit.blas].first_geometry + geometry;
    const uint64_t boxes = push.row_at != 0ul ? geometries.at[row_of_geometry].memory_boxes : 0ul;
    log_access(boxes + uint64_t(primitive) * 24ul, 24u, kKindBox);
  }
  if (SceneRef(push.scene).it.own_boxes != 0u && !meet(low, high, space, limit).met) {
    return;
  }
  ++counters.procedurals;
  float t;
  uint kind;
  if (!ask_intersection(visit.instance, geometry, primitive, t, kind) || !(t >= t_min && t <= limit) ||
      !counts(t, visit.instance, geometry, primitive)) {
    return;
  }
  if (is_accepted(visit.instance, geometry, primitive, t, kind, opaque)) {
    take_hit(HitRecord(t, visit.instance, geometry, primitive, 0.0, 0.0, kind));
  }
}

// Tests the primitive at `place` of the visited structure's leaves.
void test_primitive(uint64_t primitives, uint place) {
  const uint64_t at = primitives + uint64_t(place) * 48ul;
  const uvec4 r0 = PrimitiveRef(at).at[0];
  const uvec4 r1 = PrimitiveRef(at).at[1];
  const bool is_box = (r1.w & RAYREPLAY_GEOMETRY_BOX) != 0u;
  const bool opaque = is_opaque((r1.w & RAYREPLAY_GEOMETRY_OPAQUE) != 0u);
  if (is_left_out(is_box, opaque)) {
    return;
  }
  const uint geometry = r1.w & RAYREPLAY_GEOMETRY_INDEX;
  const vec3 a = uintBitsToFloat(r0.xyz);
  const vec3 b = uintBitsToFloat(r1.xyz);
  if (is_box) {
    test_box(a, b, geometry, r0.w, opaque);
  } else {
    const vec3 c = uintBitsToFloat(PrimitiveRef(at).at[2].xyz);
    test_triangle(a, b, c, geometry, r0.w, opaque);
  }
}

// The number of rows that test_primitive will log.
uint rows_of_test(uint64_t primitives, uint place) {
  const uint bits = Words(primitives + uint64_t(place) * 48ul).at[7];
  const bool is_box = (bits & RAYREPLAY_GEOMETRY_BOX) != 0u;
  return is_left_out(is_box, is_opaque((bits & RAYREPLAY_GEOMETRY_OPAQUE) != 0u)) ? 0u : is_box ? 1u : 4u;
}

vec3 world_low(uint instance) {
  InstanceRef instances = InstanceRef(SceneRef(push.scene).it.instances);
  return vec3(instances.at[instance].world[0], instances.at[instance].world[1], instances.at[instance].world[2]);
}
vec3 world_high(uint instance) {
  InstanceRef instances = InstanceRef(SceneRef(push.scene).it.instances);
  return vec3(instances.at[instance].world[3], instances.at[instance].world[4], instances.at[instance].world[5]);
}

// Reads the instance's record; false if the ray, with its world space in `space`, does not enter it.
bool enter(uint instance) {
  SceneRef scene = SceneRef(push.scene);
  InstanceRef instances = InstanceRef(scene.it.instances);
  log_access(scene.it.memory_instances + uint64_t(instance) * 64ul, 64u, kKindInstance);
  const uint bits = instances.at[instance].bits;
  if ((bits & (flags >> 16) & 0xFFu) == 0u) {
    return false;
  }
  const vec3 low = world_low(instance);
  const vec3 high = world_high(instance);
  BoxEntry entry = meet(low, high, space, limit);
  if (!entry.met) {
    if (scene.it.own_boxes != 0u) {
      return false;
    }
    entry.entry = t_min;
  }
  ++counters.instances;
  visit.instance = instance;
  visit.blas = instances.at[instance].blas;
  visit.flags = (bits >> 8) & 0xFFu;
  visit.identity = ((bits >> 16) & 1u) != 0u;
  visit.entry = entry.entry;
  return true;
}
