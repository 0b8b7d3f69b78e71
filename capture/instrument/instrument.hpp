// SPIR-V instrumentation: shaders that record their events.
//
// Contract: `instrument` returns a module that behaves as the application's and appends the records of probes/record.h.
// Pure function; never throws on any input; same input, same bytes. The module's interface, names, debug information,
// decorations and specialisation constants stay. A module without an entry point of the options' stages, or without
// code that the options concern, is Unchanged; one that cannot be rewritten is Refused, with the reason, and is used as
// it is. Linear in the words. C++ standard library only: it runs inside applications.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "capture/instrument/access_layout.hpp"
#include "capture/instrument/counter_layout.hpp"
#include "capture/instrument/path_layout.hpp"

namespace rayreplay::instrument {

enum class Stage : std::uint8_t {
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

/// The entry points of a module that are instrumented.
enum class Stages : std::uint8_t {
  RayTracing = 0,
  Others,  ///< vertex, fragment and compute: they count, and nothing else; helper invocations do not count
};

/// Threads whose records are kept; others run unrecorded but count in lane masks.
struct Window {
  std::uint32_t x = 0, y = 0, width = 0, height = 0;
};

/// A look-up that replaces the launch id: thread i of a launch of this size runs as thread table[i]. A permutation.
struct SwizzleTable {
  std::uint64_t address = 0;  ///< device address of u32[width·height·depth]
  std::uint32_t width = 0, height = 0, depth = 1;
};

struct Options {
  Stages stages = Stages::RayTracing;  ///< Others: only options count_… and value_slots may be set
  bool record = true;                  ///< false: only what swizzle and observe_all ask for
  std::uint64_t events_address = 0;    ///< device address of the event buffer, 4-byte aligned
  std::uint64_t events_words = 0;      ///< its capacity
  std::uint64_t control_address = 0;   ///< device address of the control block, 256-byte aligned
  std::uint16_t first_shader_id = 0;   ///< the ray-tracing entry points get this id and the following, in module order
  bool clock = false;                  ///< the device has shaderDeviceClock
  bool sm = false;                     ///< the device has VK_NV_shader_sm_builtins
  bool wide_subgroups = false;         ///< subgroups may have more than 32 lanes
  bool ballot_extension = false;       ///< the device has VK_EXT_shader_subgroup_ballot: probes vote by it
  bool gate = false;                   ///< look at RR_CONTROL_GATE before recording
  std::optional<Window> window;
  std::uint32_t every = 1;   ///< record threads whose id is a multiple
  bool observe_all = false;  ///< trace calls get NoOpaque in place of Opaque
  /// With observe_all, for modules with any-hit shaders: device address of u32 words: [0] number of instances n,
  /// [1 + i] first bit of instance i; then at word 1 + n the bits: bit (first + geometry index) set: opaque to the
  /// application, so its any-hit shader must not run. 0: no any-hit shader needs it.
  std::uint64_t opacity_address = 0;
  /// With observe_all: device address of a u32 for each thread, where trace calls keep the application's ray flags for
  /// any-hit shaders and for reads of the incoming ray flags. With an opacity table, rays of threads beyond
  /// `ray_flags_threads` stay as they are; without one, their shaders see NoOpaque in place of Opaque.
  std::uint64_t ray_flags_address = 0;
  std::uint32_t ray_flags_threads = 0;
  std::optional<SwizzleTable> swizzle;
  /// Blocks of the application's functions count their executions: by lane, with All also by group of lanes.
  std::optional<block_counts::CounterSet> count_blocks;
  /// Branches and loads of the application's functions count their executions, and those in which all lanes had one
  /// condition, selector, value or address.
  bool count_branches = false, count_loads = false;
  /// Each component that a load of 32-bit numbers gives has a table with room for this many values; 0: none. At most
  /// kMostValueSlots.
  std::uint32_t value_slots = 0;
  /// Instructions whose operands are proven to be the same in the whole launch are not compared, and counted only where
  /// their block's counter does not count them.
  bool trust_analysis = true;
  /// With `record`: shader calls record their paths (path_layout.hpp).
  bool record_paths = false;
  /// With `record`: accesses to buffers and images record their addresses and texels (access_layout.hpp), of recorded
  /// threads whose id is a multiple of access_every.
  bool record_accesses = false;
  std::uint32_t access_every = 1;
  /// With `sm`: copies of the counters, a power of two. An SM counts in the copy of its number's low bits, so that few
  /// SMs wait for each other's additions.
  std::uint32_t counter_copies = 1;
};

/// A static trace call and the source of its acceleration structure.
struct TraceSite {
  std::uint16_t shader = 0;
  std::uint8_t site = 0;
  bool bound = false;  ///< a descriptor; else made from an address or not traceable
  std::uint32_t set = 0, binding = 0;
};

struct EntryPoint {
  Stage stage = Stage::RayGeneration;
  std::string name;
  std::uint16_t shader = 0;
};

enum class Status : std::uint8_t { Instrumented, Unchanged, Refused };

struct Result {
  Status status = Status::Unchanged;
  std::string reason;                ///< Refused: what was found, for the trace
  std::vector<std::string> notes;    ///< Instrumented: what is not observed, and why
  std::vector<std::uint32_t> spirv;  ///< Instrumented only
  std::vector<EntryPoint> entry_points;
  std::vector<TraceSite> sites;
  CounterLayout counters;            ///< count_…
  PathLayout paths;                  ///< record_paths
  std::vector<AccessSite> accesses;  ///< record_accesses
};

[[nodiscard]] Result instrument(std::span<const std::uint32_t> spirv, const Options& options);

/// The entry points of a module of these stages; empty for anything else, malformed modules included.
[[nodiscard]] std::vector<EntryPoint> entry_points(std::span<const std::uint32_t> spirv, std::uint16_t first_shader_id,
                                                   Stages stages = Stages::RayTracing);

/// Whether the module declares the capability RayQueryKHR; false for anything that is no module.
[[nodiscard]] bool uses_ray_queries(std::span<const std::uint32_t> spirv);

/// An any-hit shader ("main") that only records, for hit groups without one (observe_all).
[[nodiscard]] std::vector<std::uint32_t> recording_any_hit(const Options& options);

}  // namespace rayreplay::instrument
