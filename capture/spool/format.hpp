// The spool: the recordings of a captured application, one file per process, append-only.
//
// A file is 16 bytes ("RRSPOOL\n", u32 version, u32 0) and then blocks. A block is a BlockHeader and its payload,
// padded to 8 bytes; it counts only if it is complete and its checksum is right, so a file that ends anywhere (kill -9,
// full disk) holds all blocks before that place. Little-endian. Payloads are the structs below field by field, without
// padding: integers as they are, text and arrays as u64 count and elements (payload.hpp reads and writes them).
//
// Order: Process first; a Device before what names it; a Shader before a Pipeline, a Structure before a Launch that
// names it; a launch's Events, Counts and Images follow its Launch, a module's Counters, Paths and Accesses its
// Shaders, a pipeline's PipelineFacts its Pipeline. Seen anywhere behind Process. End last, if the application ended by
// itself.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace rayreplay::spool {

inline constexpr char kMagic[8] = {'R', 'R', 'S', 'P', 'O', 'O', 'L', '\n'};
inline constexpr std::uint32_t kVersion = 8;
inline constexpr std::uint32_t kBlockMagic = 0x4B'4C'42'52;  // "RBLK"
inline constexpr std::uint32_t kNone = 0xFFFF'FFFFU;
inline constexpr std::uint32_t kNullReference = 0xFFFF'FFFEU;
inline constexpr std::uint16_t kNoShader = 0xFFFFU;

enum class BlockType : std::uint32_t {
  Process = 1,
  Device,
  Shader,
  Pipeline,
  Structure,
  Launch,
  Events,
  Note,
  End,
  Seen,
  Counters,
  Counts,
  Paths,
  Accesses,
  PipelineFacts,
  Images,
};
inline constexpr BlockType kLastBlockType = BlockType::Images;

struct BlockHeader {
  std::uint32_t magic = kBlockMagic;
  BlockType type = BlockType::Note;
  std::uint64_t bytes = 0;     ///< of the payload, without padding
  std::uint64_t sequence = 0;  ///< 0, 1, 2, …
  std::uint64_t checksum = 0;  ///< XXH3-64 of the payload, seed = sequence
};
static_assert(sizeof(BlockHeader) == 32);

struct Process {
  std::uint32_t pid = 0;
  std::string executable;  ///< path
  std::vector<std::string> command_line;
  std::string application_name, engine_name;  ///< VkApplicationInfo
  std::string tool_version;
  std::string options;  ///< the resolved capture options, "key=value" lines
  std::uint64_t start_unix_ns = 0;
};

struct Device {
  std::uint32_t device = 0;  ///< number in this process
  std::string name, driver_name, driver_info;
  std::uint32_t vendor_id = 0, device_id = 0, driver_version = 0, api_version = 0;
  std::uint32_t subgroup_size = 0;
  std::uint8_t has_clock = 0, has_sm = 0;
  std::uint32_t sm_count = 0, warps_per_sm = 0;  ///< 0: unknown
  double timestamp_period_ns = 0;
  std::uint32_t shader_group_handle_size = 0;
  /// Capacity of the event buffer, as wanted where it is made when a launch needs it: then a Note says if there was
  /// less memory, or none. 0: this device could not record, a Note says why.
  std::uint64_t events_words = 0;
};

enum class ShaderStatus : std::uint8_t { Instrumented = 0, LeftAlone, Added };  ///< Added: by observe-all

struct Site {
  std::uint8_t site = 0, bound = 0;
  std::uint32_t set = 0, binding = 0;
};

/// One entry point; ids count from 0 over the process.
struct Shader {
  std::uint16_t shader = 0;
  std::uint8_t stage = 0;  ///< instrument::Stage
  ShaderStatus status = ShaderStatus::Instrumented;
  std::string entry, name;           ///< name: from debug utilities, or made of stage and source file name
  std::string reason;                ///< LeftAlone: why
  std::vector<std::uint32_t> spirv;  ///< as the application gave it
  std::vector<Site> sites;
};

struct Group {
  std::uint16_t general = kNoShader, closest_hit = kNoShader, any_hit = kNoShader, intersection = kNoShader;
  std::vector<std::uint8_t> handle;
};

struct Pipeline {
  std::uint32_t device = 0, pipeline = 0;  ///< numbers from 0 over the process
  std::string name;
  std::vector<Group> groups;
};

enum class GeometryType : std::uint8_t { Triangles = 0, Boxes = 1 };

/// The values that the build read, packed: strides are those of these bytes (the element's size), not the
/// application's. Vertices: `vertex_count` of them, from the first that an index of 0 means; the indices are the
/// application's less the least of them, so that vertices which no triangle can mean are not kept. Boxes:
/// primitive_count of box_stride bytes.
struct Geometry {
  GeometryType type = GeometryType::Triangles;
  std::uint32_t flags = 0;  ///< VkGeometryFlagsKHR as the application gave them
  std::uint32_t primitive_count = 0;
  std::int32_t vertex_format = 0;  ///< VkFormat
  std::uint32_t vertex_count = 0;
  std::uint64_t vertex_stride = 0;
  std::int32_t index_type = 0;  ///< VkIndexType
  std::uint64_t box_stride = 0;
  std::uint8_t has_transform = 0;
  float transform[12] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};
  std::vector<std::uint8_t> vertices, indices, boxes;
  std::string missing;  ///< not empty: this geometry's data could not be copied, and why
};

/// VkAccelerationStructureInstanceKHR with its reference resolved.
struct Instance {
  float transform[12] = {};
  std::uint32_t custom_index = 0, hit_group_offset = 0;
  std::uint8_t mask = 0, flags = 0;
  /// Structure of the bottom level. kNullReference: the reference is 0, the instance is inactive. kNone: the reference
  /// is of no structure that the layer knows.
  std::uint32_t structure = kNone;
};

/// The content that a build left in an acceleration structure. A rebuilt or updated one is a new Structure.
struct Structure {
  std::uint32_t device = 0, structure = 0;  ///< numbers from 0 over the process
  std::uint8_t top_level = 0;
  std::uint32_t flags = 0;  ///< VkBuildAccelerationStructureFlagsKHR
  std::string name;
  std::vector<Geometry> geometries;  ///< bottom level
  std::vector<Instance> instances;   ///< top level
  std::string missing;               ///< not empty: the content is unknown, and why
};

enum class TableRegion : std::uint8_t { RayGeneration = 0, Miss, Hit, Callable };

struct Table {
  TableRegion region = TableRegion::RayGeneration;
  std::uint64_t stride = 0;
  std::vector<std::uint8_t> bytes;  ///< as the launch saw them; empty with `missing` if they could not be read
  std::string missing;
};

struct Launch {
  std::uint32_t device = 0, launch = 0;  ///< launch: number from 0 over the process, of all launches, captured or not
  std::uint32_t frame = 0, queue_family = 0, queue = 0;
  std::uint32_t width = 0, height = 0, depth = 0;
  std::uint32_t pipeline = kNone;
  std::vector<std::uint32_t> structures;  ///< top-level structures that it may have used; the first is the likeliest
  std::vector<Table> tables;
  std::uint64_t begin_ns = 0, end_ns = 0;  ///< device time; both 0: not measured
  std::uint64_t words = 0;                 ///< of the Events that follow; behind the last whole chunk they are 0
  std::vector<std::uint64_t> dropped;      ///< by record kind: lanes that did not fit
  std::uint8_t swizzled = 0;               ///< the swizzle of the options was applied
  std::uint8_t observe_all = 0;            ///< opaque geometry was observed
  std::uint32_t stack_bytes = 0;           ///< the application's dynamic stack size; 0: none was set
};

/// Part of a launch's records (probes/record.h). Chunks may straddle blocks.
struct Events {
  std::uint32_t launch = 0;
  std::uint64_t first_word = 0;
  std::vector<std::uint32_t> words;
};

/// Something that could not be captured, and why; one line. launch kNone: the whole process.
struct Note {
  std::uint32_t launch = kNone;
  std::string text;
};

/// Totals, to compare with the file's content.
struct End {
  std::uint32_t launches_seen = 0, launches_captured = 0;
};

enum class Sight : std::uint8_t {
  DeviceWithoutRays = 0,  ///< a device with neither ray-tracing pipelines nor ray queries
  RayQueryDevice,         ///< a device with VK_KHR_ray_query; a Device block follows if it has pipelines too
  RayQueryShader,         ///< a shader module with the capability RayQueryKHR
  MissedLaunch,           ///< a launch that was asked for and could not be captured; a Note says why
};
inline constexpr std::uint32_t kSights = 4;

/// Something that is never captured, once per kind: explains why a spool may hold no events.
struct Seen {
  Sight sight = Sight::DeviceWithoutRays;
};

enum class SiteKind : std::uint8_t { Block = 0, Branch, Load, Value };

/// A place whose executions are counted. It has a cell for each bit of `cells`, in this order: 1 lanes, 2 groups that
/// no later cell counts, 4 groups whose lanes all had one condition, selector or value, 8 groups whose lanes all had
/// one address, 16 groups of both kinds, which is there if 4 and 8 are. Value: a component of a loaded value; behind
/// the cells ceil(slots / 4) unused ones and a table of `slots` with three cells each: key, lanes that had the value,
/// groups whose lanes all had it. Cells hold what a launch added; a key is 2^32 + value in each launch that added to
/// its slot, else 0.
///
/// A Branch, Load or Value without lanes and groups has those of the last site before it in its block that has them; if
/// there is none, those of the block. A block without groups has those of its only predecessor.
struct CounterSite {
  SiteKind kind = SiteKind::Block;
  /// Block: the executions of block `to`; with `from` not kNone those of the edge between them. Others: `to` has the
  /// instruction. Blocks are numbered in their function.
  std::uint32_t from = kNone, to = 0;
  std::uint32_t instruction = 0;  ///< Branch, Load, Value: in its function
  std::uint32_t cell = 0;         ///< its first, among the cells of its function
  std::uint8_t cells = 0;
  std::uint8_t always = 0;     ///< 4, 8: the same in every execution, by proof
  std::uint8_t component = 0;  ///< Value: of the loaded vector
  std::uint16_t slots = 0;     ///< Value: of its table
};

/// The cells of a site begin, for a shader, at first + site.cell + (shader − shaders[0]) · cells.
struct CountedFunction {
  std::uint32_t function = 0;  ///< in the module
  std::uint32_t first = 0, cells = 0;
  std::vector<std::uint16_t> shaders;  ///< that reach it, ascending
  std::vector<CounterSite> sites;
};

/// Counted places of a module.
struct Counters {
  std::uint16_t module = 0;  ///< its first shader
  std::uint32_t cells = 0;
  std::vector<CountedFunction> functions;
};

/// The counts of one launch, by cell.
struct Counts {
  std::uint32_t device = 0, launch = 0, pipeline = kNone;
  std::uint16_t module = 0;
  std::vector<std::uint64_t> cells;
};

/// A counted place of a path: the executions of block `to`; with `from` not kNone those of the edge between them.
struct PathSite {
  std::uint32_t from = kNone, to = 0;
};

struct PathFunction {
  std::uint32_t function = 0;          ///< in the module
  std::vector<std::uint16_t> shaders;  ///< that reach it, ascending
  std::vector<PathSite> sites;
};

/// What the records of paths (probes/record.h) count, for the shaders of a module: for each the sites of the functions
/// that it reaches, end to end.
struct Paths {
  std::uint16_t module = 0;            ///< its first shader
  std::vector<std::uint16_t> shaders;  ///< that record paths
  std::vector<PathFunction> functions;
};

enum class AccessKind : std::uint8_t { Load = 0, Store, Atomic, Sample };
/// The origin of a recorded address: a descriptor's buffer, none (a device address), a shader record's data, or a
/// descriptor's image, whose texel it is.
enum class AccessSpace : std::uint8_t { Descriptor = 0, Device, ShaderRecord, Image };

/// An instruction whose accesses to a buffer or image are recorded.
struct AccessSite {
  std::vector<std::uint16_t> shaders;        ///< that reach it, ascending
  std::uint32_t function = 0;                ///< in the module
  std::uint32_t block = 0, instruction = 0;  ///< in the function
  AccessKind kind = AccessKind::Load;
  AccessSpace space = AccessSpace::Descriptor;
  std::uint32_t set = 0, binding = 0, element = 0;
  std::uint32_t bytes = 0;  ///< Image: 0
};

/// The sites that records of accesses (probes/record.h) name by number, for the shaders of a module.
struct Accesses {
  std::uint16_t module = 0;  ///< its first shader
  std::vector<AccessSite> sites;
};

/// An image, as it was created.
struct Image {
  std::uint32_t image = 0;  ///< number from 0 over the device
  std::int32_t format = 0;  ///< VkFormat
  std::uint32_t width = 0, height = 0, depth = 0, layers = 0, levels = 0, samples = 0;
};

/// The filter of the sampler that is combined with an image's descriptor; None: there is no sampler.
enum class ImageFilter : std::uint8_t { None = 0, Nearest, Linear };

/// A descriptor with a view of an image.
struct ImageDescriptor {
  std::uint32_t set = 0, binding = 0, element = 0;
  std::uint32_t place = 0;  ///< of its image in Images::images
  std::int32_t format = 0;  ///< VkFormat of the view
  std::uint32_t base_layer = 0, base_level = 0;
  ImageFilter filter = ImageFilter::None;
};

/// The images in the descriptors that the shaders of a captured launch can use, where accesses are recorded.
struct Images {
  std::uint32_t launch = 0;
  std::vector<Image> images;
  std::vector<ImageDescriptor> descriptors;  ///< by set, binding, element, ascending
};

/// In place of a stack size: the group has no such shader.
inline constexpr std::uint64_t kNoStack = ~std::uint64_t{0};

/// Stack sizes of a shader group's shaders, as the driver gives them for the application's own shaders.
struct GroupStack {
  std::uint16_t general = kNoShader, closest_hit = kNoShader, any_hit = kNoShader, intersection = kNoShader;
  std::uint64_t general_bytes = kNoStack, closest_hit_bytes = kNoStack, any_hit_bytes = kNoStack,
                intersection_bytes = kNoStack;
};

enum class StatisticFormat : std::uint8_t { Bool = 0, Int64, Uint64, Float64 };

/// VkPipelineExecutableStatisticKHR.
struct Statistic {
  std::string name, description;
  StatisticFormat format = StatisticFormat::Uint64;
  std::uint64_t value = 0;  ///< the value's bits; Bool: 0 or 1
};

/// VkPipelineExecutablePropertiesKHR, with the executable's statistics.
struct Executable {
  std::string name, description;
  std::uint32_t stages = 0;  ///< VkShaderStageFlags
  std::uint32_t subgroup_size = 0;
  std::vector<Statistic> statistics;
};

/// The driver's facts of a pipeline with the application's own shaders. Its number is that of the Pipeline.
struct PipelineFacts {
  std::uint32_t device = 0, pipeline = 0;
  std::uint32_t recursion_depth = 0;
  std::uint8_t dynamic_stack = 0;
  std::vector<GroupStack> groups;
  std::vector<Executable> executables;
};

}  // namespace rayreplay::spool
