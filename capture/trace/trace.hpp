// The trace in memory: what a ray-tracing application did, as structure of arrays.
//
// Contract: plain data, no behaviour but look-ups. A Trace that came from `load` (reader.hpp) or passed `check`
// (validate.hpp) satisfies every rule stated here; code that takes one relies on them. The disk form is described field
// by field in docs/trace-format.md. Terms: MODELS.md §1 and §2.
//
// Shapes: threads T = width·height·depth, R rays, E events of a launch. A thread's rays are rows
// [ray_offset[i], ray_offset[i+1]) in the order it began them, its events rows [event_offset[i], event_offset[i+1]) in
// the order they happened. Memory: 17 bytes an event, 39 a ray and 16 a thread, more where
// optional columns are there (paths: 4 an event and a thread; accesses: 20 an access and 8 a thread).
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "capture/trace/column.hpp"

namespace rayreplay::trace {

inline constexpr std::uint32_t kFormatVersion = 1;
inline constexpr std::uint32_t kNone = 0xFFFF'FFFFU;  ///< no instance, no primitive, no warp
inline constexpr std::uint16_t kNoShader = 0xFFFFU;

/// Ray events in the order of their stages (MODELS.md §2). ImplicitHit is derived, never stored.
enum class EventKind : std::uint8_t {
  Begin = 0,           ///< a trace call without SkipClosestHit; shader: the caller
  OcclusionBegin,      ///< a trace call with SkipClosestHit; shader: the caller
  Intersection,        ///< entry of an intersection shader; t: the current t_max
  ReportIntersection,  ///< the report call; t: reported
  AnyHit,              ///< entry of an any-hit shader; t: the candidate's
  IgnoreIntersection,  ///< the ignore call
  TerminateRay,        ///< the terminate call
  Miss,                ///< entry of a miss shader
  ClosestHit,          ///< entry of a closest-hit shader; t: the hit's
  Callable,            ///< entry of a callable shader
  Reorder,             ///< a reorder call (SER); the hint is the ray's
};
inline constexpr std::size_t kEventKinds = 11;

/// Whether a warp executes the event as a call of its own (MODELS.md §2, last paragraph).
[[nodiscard]] constexpr bool is_warp_event(EventKind kind) {
  return kind != EventKind::ReportIntersection && kind != EventKind::IgnoreIntersection &&
         kind != EventKind::TerminateRay && kind != EventKind::Reorder;
}
[[nodiscard]] constexpr bool begins_ray(EventKind kind) {
  return kind == EventKind::Begin || kind == EventKind::OcclusionBegin;
}
/// Whether the event is the entry of a shader, whose call may have a path.
[[nodiscard]] constexpr bool enters_shader(EventKind kind) {
  return is_warp_event(kind) && !begins_ray(kind);
}
/// Whether the event carries t, instance, primitive and geometry. A ReportIntersection repeats those of its
/// Intersection.
[[nodiscard]] constexpr bool carries_hit(EventKind kind) {
  return kind == EventKind::Intersection || kind == EventKind::ReportIntersection || kind == EventKind::AnyHit ||
         kind == EventKind::ClosestHit;
}

/// Those of ray tracing first; the others have counts alone, and no events.
enum class ShaderStage : std::uint8_t {
  RayGeneration = 0,
  Intersection,
  AnyHit,
  ClosestHit,
  Miss,
  Callable,
  Vertex,
  Fragment,
  Compute
};
inline constexpr std::size_t kRayTracingStages = 6;
inline constexpr std::size_t kShaderStages = 9;

[[nodiscard]] const char* to_string(EventKind kind);     ///< "ClosestHit"
[[nodiscard]] const char* to_string(ShaderStage stage);  ///< "closest-hit"

/// The shader's index in Trace::shaders is its shader id.
struct Shader {
  ShaderStage stage = ShaderStage::RayGeneration;
  std::string entry;                 ///< entry point, "main"
  std::string name;                  ///< for people: "lambertian"
  std::vector<std::uint32_t> spirv;  ///< empty when there is none
};

/// Ray flags, as in SPV_KHR_ray_tracing.
enum RayFlags : std::uint16_t {
  kRayFlagOpaque = 0x01,
  kRayFlagNoOpaque = 0x02,
  kRayFlagTerminateOnFirstHit = 0x04,
  kRayFlagSkipClosestHit = 0x08,
  kRayFlagCullBackFacing = 0x10,
  kRayFlagCullFrontFacing = 0x20,
  kRayFlagCullOpaque = 0x40,
  kRayFlagCullNoOpaque = 0x80,
  kRayFlagSkipTriangles = 0x100,
  kRayFlagSkipBoxes = 0x200,
};

inline constexpr std::uint8_t kHitKindFrontFacing = 0xFE;
inline constexpr std::uint8_t kHitKindBackFacing = 0xFF;

enum class GeometryType : std::uint8_t { Triangles = 0, Boxes = 1 };

struct Geometry {
  GeometryType type = GeometryType::Triangles;
  bool opaque = true;
  std::string name;
  Column<float> vertices;         ///< triangles: x y z per vertex, object space
  Column<std::uint32_t> indices;  ///< triangles: three per primitive
  Column<float> boxes;            ///< boxes: min x y z, max x y z per primitive

  [[nodiscard]] std::uint64_t primitives() const {
    return type == GeometryType::Triangles ? indices.size() / 3 : boxes.size() / 6;
  }
};

/// A bottom-level structure: geometries [first_geometry, first_geometry + geometry_count).
struct Blas {
  std::uint32_t first_geometry = 0;
  std::uint32_t geometry_count = 0;
};

struct Instance {
  std::array<float, 12> transform{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};  ///< object to world, row-major 3×4
  std::uint32_t blas = 0;
  std::uint32_t custom_index = 0;
  std::uint32_t hit_group_offset = 0;
  std::uint8_t mask = 0xFF;
  std::uint8_t flags = 0;  ///< VkGeometryInstanceFlagBitsKHR
};

/// A top-level structure: instances [first_instance, first_instance + instance_count). Instance ids of the events of a
/// launch that used it count from first_instance.
struct Tlas {
  std::uint32_t first_instance = 0;
  std::uint32_t instance_count = 0;
};

/// Empty instances: the geometry was not captured, and instance and primitive ids cannot be checked.
struct Scene {
  std::vector<Geometry> geometries;
  std::vector<Blas> blases;
  std::vector<Instance> instances;
  std::vector<Tlas> tlases;  ///< empty: one structure of all instances
};

struct Rays {
  Column<float> origin_x, origin_y, origin_z;
  Column<float> direction_x, direction_y, direction_z;
  Column<float> t_min, t_max;
  Column<std::uint16_t> flags;
  Column<std::uint8_t> cull_mask;
  Column<std::uint8_t> sbt_offset;  ///< 4 bits used
  Column<std::uint8_t> sbt_stride;  ///< 4 bits used
  Column<std::uint16_t> miss_index;
  Column<std::uint8_t> site;       ///< optional: number of the trace call in its shader's code
  Column<std::uint32_t> hint;      ///< optional: coherence hint of the ray's reorder call (SER); 0 without one
  Column<std::uint8_t> hint_bits;  ///< optional, with hint: how many of its bits count, most significant first

  [[nodiscard]] std::size_t size() const {
    return origin_x.size();
  }
};

/// Columns marked optional are empty when not captured.
struct Events {
  Column<EventKind> kind;
  Column<std::uint16_t> shader;
  Column<float> t;                  ///< 0 where the kind carries no hit
  Column<std::uint32_t> instance;   ///< 0 where the kind carries no hit
  Column<std::uint32_t> primitive;  ///< 0 where the kind carries no hit
  Column<std::uint8_t> hit_kind;    ///< ReportIntersection, AnyHit, ClosestHit; else 0
  Column<std::uint8_t> accepted;    ///< ReportIntersection: 1 if the hit was accepted; else 0
  Column<std::uint16_t> geometry;   ///< optional: geometry index in the blas; absent means 0
  Column<std::uint32_t> ray;        ///< optional: ray index in the thread; absent means the one begun last
  Column<std::uint32_t> group;      ///< optional: co-execution group, row of Groups
  Column<std::uint32_t> path;       ///< optional: path of the entered shader's call, row of Paths + 1; 0: none, unknown

  [[nodiscard]] std::size_t size() const {
    return kind.size();
  }
};

/// Recorded accesses of shaders to buffers, thread by thread in the order they happened. All columns are empty when not
/// captured.
struct Accesses {
  Column<std::uint64_t> offset;   ///< a thread's accesses are rows [offset[i], offset[i+1])
  Column<std::uint32_t> event;    ///< events of the thread that happened before
  Column<std::uint32_t> site;     ///< row of AccessSites
  Column<std::uint64_t> address;  ///< of the first byte: where it counts from depends on the site
  Column<std::uint32_t> group;    ///< lanes that ran the access together: dense from 0, in the order they ran

  [[nodiscard]] std::size_t size() const {
    return site.size();
  }
};

/// Rays and events of consecutive threads; offsets have one entry more than there are threads and start at 0.
struct ThreadData {
  Column<std::uint64_t> ray_offset;
  Column<std::uint64_t> event_offset;
  Rays rays;
  Events events;
  Accesses accesses{};

  [[nodiscard]] std::size_t threads() const {
    return event_offset.empty() ? 0 : event_offset.size() - 1;
  }
};

/// The filter of the sampler that is combined with an image's descriptor.
enum class Filter : std::uint8_t { None = 0, Nearest, Linear };  ///< None: no sampler there
inline constexpr std::size_t kFilters = 3;

/// Images in the descriptors that a launch's shaders can use: a row for each, by set, binding and element, ascending.
/// A descriptor has a view: some levels and layers of an image. Texels lie in blocks (compressed formats; else 1 × 1).
struct Images {
  Column<std::uint32_t> set, binding, element;   ///< the descriptor, and its place in an array of descriptors
  Column<std::uint32_t> image;                   ///< number of the image: descriptors of one image share memory
  Column<std::uint32_t> width, height, depth;    ///< of the image's level 0, in texels; not 0
  Column<std::uint32_t> layers, levels;          ///< of the image; not 0
  Column<std::uint32_t> base_layer, base_level;  ///< of the view, in the image
  Column<std::uint32_t> block_width, block_height, block_bytes;  ///< not 0
  Column<Filter> filter;

  [[nodiscard]] std::size_t size() const {
    return set.size();
  }
};

/// Co-execution groups in the order the hardware ran them; all columns empty when not captured.
struct Groups {
  Column<std::uint32_t> warp;  ///< kNone: its lanes are not those of one launched warp, the hardware repacked them
  Column<std::uint16_t> sm;
  Column<std::uint64_t> lane_mask;
  Column<std::uint64_t> clock;

  [[nodiscard]] std::size_t size() const {
    return warp.size();
  }
};

struct LaunchSize {
  std::uint32_t width = 0;
  std::uint32_t height = 0;
  std::uint32_t depth = 1;

  [[nodiscard]] std::uint64_t threads() const {
    return std::uint64_t{width} * height * depth;
  }
  bool operator==(const LaunchSize&) const = default;
};

enum class TableRegion : std::uint8_t { RayGeneration = 0, Miss, Hit, Callable };

/// One record of a launch's shader binding table: the shaders of its group and the application's data behind the
/// handle.
struct ShaderRecord {
  TableRegion region = TableRegion::RayGeneration;
  std::uint32_t index = 0;  ///< in its region
  std::uint16_t general = kNoShader, closest_hit = kNoShader, any_hit = kNoShader, intersection = kNoShader;
  std::vector<std::uint8_t> data;
};

/// One vkCmdTraceRays. thread_warp and thread_lane are empty when the warps were not captured; warp ids number the
/// warps from 0 by the time they started.
struct Launch {
  LaunchSize size;
  ThreadData data;
  Groups groups;
  Column<std::uint32_t> thread_warp;
  Column<std::uint8_t> thread_lane;
  Column<std::uint32_t> thread_path;  ///< empty, or path of the thread's ray-generation call as in Events
  std::uint32_t tlas = 0;            ///< which of Scene::tlases it used; kNone: unknown, instance ids cannot be checked
  std::uint32_t frame = 0;           ///< of the application
  std::uint64_t duration_ns = 0;     ///< on the device; 0: not measured
  std::uint64_t dropped_events = 0;  ///< happened but are not here: the capture's memory was full
  std::uint32_t pipeline = kNone;    ///< number in the captured process, as in PipelineFacts; kNone: unknown
  std::vector<ShaderRecord> shader_table;  ///< empty: not captured
  Images images{};                         ///< no rows: not captured
};

/// Executions of the shaders' basic blocks, over the captured launches: a row for each block of each function that a
/// shader's calls reach, by pipeline, shader, function and block, ascending. Groups are groups of lanes that ran the
/// block together.
struct BlockCounts {
  Column<std::uint32_t> pipeline;  ///< number in the captured process
  Column<std::uint16_t> shader;
  Column<std::uint32_t> function, block;  ///< places in the shader's module and in the function
  Column<std::uint64_t> lanes;
  Column<std::uint64_t> groups;  ///< empty: not counted

  [[nodiscard]] std::size_t size() const {
    return lanes.size();
  }
};

/// In place of a count of uniform executions, where nothing was compared.
inline constexpr std::uint64_t kNotCompared = ~std::uint64_t{0};

/// Executions of the shaders' branches, or of their loads, over the captured launches, and those in which all lanes of
/// a group agreed: a row for each that a shader's calls reach, by pipeline, shader, function and instruction,
/// ascending.
struct InstructionCounts {
  Column<std::uint32_t> pipeline;  ///< number in the captured process
  Column<std::uint16_t> shader;
  Column<std::uint32_t> function, block;  ///< places in the shader's module and in the function
  Column<std::uint32_t> instruction;      ///< place in the function, from 0: OpFunction
  Column<std::uint64_t> lanes, groups;
  Column<std::uint64_t> uniform;          ///< groups with one condition, selector or value in all lanes
  Column<std::uint64_t> uniform_address;  ///< of loads: groups with one address in all lanes; of branches empty

  [[nodiscard]] std::size_t size() const {
    return lanes.size();
  }
};

/// Values that the shaders' loads gave, over the captured launches, or in compute and graphics shaders over the life of
/// the pipeline. A *place* is a component of a loaded number or
/// vector of numbers of 32 bits: a row for each that a shader's calls reach, by pipeline, shader, function, instruction
/// and component, ascending. A place has a table of values, a row for each, by place and value, ascending. A value that
/// found no room in the table is in the place's lanes and groups alone.
struct ValueCounts {
  Column<std::uint32_t> pipeline;  ///< number in the captured process
  Column<std::uint16_t> shader;
  Column<std::uint32_t> function, block;  ///< places in the shader's module and in the function
  Column<std::uint32_t> instruction;      ///< place in the function, from 0: OpFunction
  Column<std::uint8_t> component;         ///< of the loaded vector; 0 for numbers
  Column<std::uint64_t> lanes, groups;

  Column<std::uint32_t> place;           ///< row above
  Column<std::uint32_t> value;           ///< its bits
  Column<std::uint64_t> value_lanes;     ///< that had the value
  Column<std::uint64_t> uniform_groups;  ///< whose lanes all had the value
  /// The most lanes that may have had the value: more than value_lanes where runs were merged and a full table lacks
  /// it.
  Column<std::uint64_t> most_lanes;

  [[nodiscard]] std::size_t size() const {
    return lanes.size();
  }
};

/// Paths of shader calls: the different ways that calls took through the blocks of their shaders, as counts of
/// executions. By shader, then by counts (in the order of the blocks), ascending. The blocks are those of all functions
/// that the shader's calls reach.
struct Paths {
  Column<std::uint16_t> shader;        ///< by path
  Column<std::uint64_t> calls;         ///< by path: events and threads that have it
  Column<std::uint32_t> counts;        ///< of all paths end to end: for each block of the path's shader, its executions
  Column<std::uint16_t> block_shader;  ///< by block; by shader, function and block, ascending
  Column<std::uint32_t> function, block;  ///< by block: places in the shader's module and in the function

  [[nodiscard]] std::size_t size() const {
    return shader.size();
  }
};

enum class AccessKind : std::uint8_t {
  Load = 0,
  Store,
  Atomic,
  Sample,  ///< of an image: a load of the texels around a point, as the sampler's filter says
};
inline constexpr std::size_t kAccessKinds = 4;
/// The origin of an access's address.
enum class AccessSpace : std::uint8_t {
  Descriptor = 0,  ///< the start of the buffer of a descriptor; less than 2^32
  Device,          ///< 0: a device address
  ShaderRecord,    ///< the start of the shader record's data; less than 2^32
  Image,           ///< a texel of an image of a descriptor: texel_address.hpp packs its coordinates
};
inline constexpr std::size_t kAccessSpaces = 4;

[[nodiscard]] const char* to_string(AccessKind kind);    ///< "load"
[[nodiscard]] const char* to_string(AccessSpace space);  ///< "descriptor", "device address", "shader record", "image"

/// Instructions whose accesses to buffers are recorded: a row for each, by shader, function and instruction, ascending.
struct AccessSites {
  Column<std::uint16_t> shader;
  Column<std::uint32_t> function, block;  ///< places in the shader's module and in the function
  Column<std::uint32_t> instruction;      ///< place in the function, from 0: OpFunction
  Column<AccessKind> kind;
  Column<AccessSpace> space;
  Column<std::uint32_t> set, binding, element;  ///< of a descriptor; element: in an array of buffers' descriptors
  Column<std::uint32_t> bytes;                  ///< of an access, from the first to behind the last; of images: 0

  // Sums over launches that are not here: of merged profiles alone (capture/profile/merge.hpp), else empty. Sectors of
  // 32 and lines of 128 bytes as in capture/profile/access_profile.hpp; of images 0.
  Column<std::uint64_t> lanes{}, groups{};               ///< executions by lane, warp instructions
  Column<std::uint64_t> sectors{}, lines{};              ///< distinct in each launch
  Column<std::uint64_t> group_sectors{}, group_lines{};  ///< distinct in each warp instruction

  [[nodiscard]] bool has_sums() const {
    return !lanes.empty();
  }
  [[nodiscard]] std::size_t size() const {
    return shader.size();
  }
};

/// In place of a stack size: the group has no such shader.
inline constexpr std::uint64_t kNoStack = ~std::uint64_t{0};

/// A shader group of a pipeline: its shaders, and the bytes of stack that the driver gives for each. A size is kNoStack
/// exactly where there is no shader.
struct GroupStack {
  std::uint16_t general = kNoShader, closest_hit = kNoShader, any_hit = kNoShader, intersection = kNoShader;
  std::uint64_t general_bytes = kNoStack, closest_hit_bytes = kNoStack, any_hit_bytes = kNoStack,
                intersection_bytes = kNoStack;

  bool operator==(const GroupStack&) const = default;
};

enum class StatisticFormat : std::uint8_t { Bool = 0, Int64, Uint64, Float64 };
inline constexpr std::size_t kStatisticFormats = 4;

[[nodiscard]] const char* to_string(StatisticFormat format);  ///< "bool", "i64", "u64", "f64"

/// A number that the driver gives of an executable. Names and meaning are the driver's.
struct Statistic {
  std::string name, description;
  StatisticFormat format = StatisticFormat::Uint64;
  std::uint64_t value = 0;  ///< the value's bits; Bool: 0 or 1

  bool operator==(const Statistic&) const = default;
};

/// A program that the driver made of some of a pipeline's shaders.
struct Executable {
  std::string name, description;
  std::uint32_t stages = 0;  ///< VkShaderStageFlags
  std::uint32_t subgroup_size = 0;
  std::vector<Statistic> statistics;

  bool operator==(const Executable&) const = default;
};

/// The driver's facts of a pipeline with the application's own shaders, without instrumentation.
struct PipelineFacts {
  std::uint32_t pipeline = 0;  ///< number in the captured process
  std::uint32_t recursion_depth = 0;
  bool dynamic_stack = false;           ///< the stack size is set by a command
  std::uint32_t set_stack = 0;          ///< the largest that the application set for a captured launch; 0: none
  std::vector<GroupStack> groups;       ///< in the pipeline's order
  std::vector<Executable> executables;  ///< empty: the driver names none, or has no such statistics

  bool operator==(const PipelineFacts&) const = default;
};

struct Header {
  std::string tool = "rayreplay";
  std::string tool_version = RAYREPLAY_VERSION;
  std::string application;                ///< "rayreplay trace", or the captured program
  std::string device;                     ///< "CPU (built-in tracer)", or the GPU's name
  std::string driver;                     ///< name and version, "" when there is none
  std::string configuration;              ///< JSON: everything that made this trace, such as scene, samples, seed
  std::uint32_t warp_size = 0;            ///< 0: not captured
  std::vector<std::string> not_captured;  ///< one line each: what is missing and why
};

struct Trace {
  Header header;
  std::vector<Shader> shaders;
  Scene scene;
  std::vector<Launch> launches;
  BlockCounts block_counts;  ///< no rows: blocks were not counted
  InstructionCounts branch_counts, load_counts;
  ValueCounts value_counts;
  Paths paths;                                ///< no rows: paths were not captured
  AccessSites access_sites;                   ///< no rows: accesses were not captured
  std::vector<PipelineFacts> pipeline_facts;  ///< by pipeline, ascending; empty: not captured
  std::string hash;  ///< 32 hexadecimal digits over the file's content; "" for a trace that was never a file
};

}  // namespace rayreplay::trace
