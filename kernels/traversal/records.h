// Records of the traversal's host and kernels, for GLSL and C++ (scalar layout).
//
// Contract: Ray, Hit and Counters are the bytes of traversal::Ray, traversal::Hit and traversal::RayCounters, whose
// arrays are copied directly; a row of the access log is traversal::Access, one of steps traversal::WarpStep. Addresses
// are device addresses, `memory_…` those of bvh::MemoryMap. Little-endian.
#ifndef RAYREPLAY_KERNELS_TRAVERSAL_RECORDS_H
#define RAYREPLAY_KERNELS_TRAVERSAL_RECORDS_H

#ifdef __cplusplus
#include <cstddef>
#include <cstdint>
namespace rayreplay::kernels::traversal {
using std::uint32_t;
using std::uint64_t;
#endif

struct RayRecord {
  float origin_x, origin_y, origin_z, t_min;
  float direction_x, direction_y, direction_z, t_max;
  uint32_t flags_and_mask;  // flags in the low 16 bits, then 8 of the mask; the rest is anything
};

struct HitRecord {
  float t;
  uint32_t instance, geometry, primitive;
  float u, v;
  uint32_t hit_kind;
};

struct CounterRecord {
  uint32_t nodes, boxes, leaves, triangles, procedurals, any_hits, instances, stack_depth, restarts;
};

// A level of a bottom-level structure.
struct LevelRecord {
  uint64_t nodes;
  uint64_t primitives;    // a PrimitiveRecord for each reference
  uint64_t memory_nodes;
  uint32_t first_geometry;  // row of the scene's geometries
  uint32_t unused;
};

// The primitive of a leaf's reference: a triangle's vertices, or a box (low in a, high in b).
struct PrimitiveRecord {
  float a_x, a_y, a_z;
  uint32_t primitive;
  float b_x, b_y, b_z;
  uint32_t geometry;  // in its blas, and the bits below
  float c_x, c_y, c_z;
  uint32_t unused;
};

struct InstanceRecord {
  double to_object[12];
  float world[6];  // low x y z, high x y z
  uint32_t blas;
  uint32_t bits;  // mask, from bit 8 flags, bit 16: the transform is the identity
};

// Addresses of a geometry's arrays, for access logs.
struct GeometryRecord {
  uint64_t indices;  // of triangles, in device memory
  uint64_t places;   // of vertices; 0: as given
  uint64_t memory_indices, memory_vertices, memory_boxes;
};

struct SceneRecord {
  uint64_t top_nodes, top_references, memory_top_nodes;
  uint64_t instances, memory_instances;
  uint64_t levels;      // LevelRecord per blas
  uint64_t geometries;  // GeometryRecord per row; 0: not for logs
  uint32_t top_empty;
  uint32_t own_boxes;
};

// Recorded answers (ObservedShaders), by candidate.
struct AnswerRecord {
  uint64_t ray_of_place;  // u64 each; 0: the place itself
  uint64_t offset;        // u64 per observed ray and one more: its calls
  uint64_t calls;         // CallRecord, of each ray by candidate
  uint64_t reports;       // ReportRecord
  uint64_t t_min;         // float per observed ray
};

struct CallRecord {
  uint32_t instance, geometry, primitive;
  uint32_t first_report;
  uint32_t reports;  // and bit 31: made by an intersection shader
};

struct ReportRecord {
  float t;
  uint32_t bits;  // hit kind; bit 8: ignored
};

struct AccessRecord {
  uint64_t address;
  uint32_t bytes;
  uint32_t kind;  // and bit 8: a store
};

struct StepRecord {
  uint64_t mask;
  uint32_t warp;
  uint32_t kind;
};

// Per warp: rows of steps, active lanes and accesses.
struct WarpTally {
  uint64_t node_lanes, leaf_lanes, accesses;
  uint32_t node_steps, leaf_steps;
};

struct TracePush {
  uint32_t first_group;
  uint32_t rays;
  uint64_t scene;
  uint64_t ray_at, hit_at, counter_at;
  uint64_t answers, unobserved_at, first_place;
  uint64_t row_count_at;  // u32 per ray: rows of the log
  uint64_t row_first_at;  // u64 per ray: where its rows start
  uint64_t row_at;        // the log
  uint64_t heap_at;       // ordered: what waits, per ray of the launch
  uint64_t overflow_at;   // ordered: u32 per ray: its queue was too short
  uint32_t heap_entries;
  uint32_t unused;
};

struct WarpPush {
  uint32_t first_group;
  uint32_t warps;
  uint64_t scene;
  uint64_t ray_at, hit_at, counter_at;
  uint64_t answers, unobserved_at, first_place;
  uint64_t first_ray_at;  // u64 per warp and one more, less those before `first_place`
  uint64_t tally_at;      // WarpTally per warp: written, or where its rows start
  uint64_t step_at, lane_at, access_end_at, row_at;
  uint32_t first_warp;   // number of warp 0 in the steps
  uint32_t while_while;  // 0: if-if
};

#define RAYREPLAY_GEOMETRY_BOX 0x80000000u
#define RAYREPLAY_GEOMETRY_OPAQUE 0x40000000u
#define RAYREPLAY_GEOMETRY_INDEX 0x3FFFFFFFu

#ifdef __cplusplus
static_assert(sizeof(RayRecord) == 36 && sizeof(HitRecord) == 28 && sizeof(CounterRecord) == 36);
static_assert(sizeof(LevelRecord) == 32 && sizeof(PrimitiveRecord) == 48 && sizeof(InstanceRecord) == 128);
static_assert(offsetof(InstanceRecord, world) == 96 && offsetof(InstanceRecord, blas) == 120);
static_assert(sizeof(GeometryRecord) == 40 && sizeof(SceneRecord) == 64 && sizeof(AnswerRecord) == 40);
static_assert(sizeof(CallRecord) == 20 && sizeof(ReportRecord) == 8 && sizeof(AccessRecord) == 16);
static_assert(sizeof(StepRecord) == 16 && sizeof(WarpTally) == 32 && sizeof(TracePush) <= 128 && sizeof(WarpPush) <= 128);
}  // namespace rayreplay::kernels::traversal
#endif
#endif
