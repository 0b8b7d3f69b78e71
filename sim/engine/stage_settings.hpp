// Option structs of the stages' code, from complete settings.
//
// Contract: one function per option struct. They check combinations that no single key can check (sizes that are no
// number of words, geometries that do not fit, malformed shader costs) and name the setting's place where known.
// Errors: Usage.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "bvh/bvh.hpp"
#include "capture/trace/trace.hpp"
#include "sim/caching/cache.hpp"
#include "sim/caching/grid/cache_grid.hpp"
#include "sim/comparison/compare.hpp"
#include "sim/engine/stage_input.hpp"
#include "sim/launch/resolve.hpp"
#include "sim/machine/interleave.hpp"
#include "sim/machine/machine.hpp"
#include "sim/memory/streams/launch_source.hpp"
#include "sim/settings/settings.hpp"

namespace rayreplay::experiment {

/// Values that the trace decides where settings leave them open.
struct TraceDecisions {
  std::uint32_t warp_size = 32;
  std::string order;  ///< resolved spec
};

[[nodiscard]] TraceDecisions decisions(const Settings& complete, const InputFacts& facts);

/// Launch, warp size, order, packing and policy; with `costs` also those of shader calls. Errors as resolve's.
[[nodiscard]] Resolved resolved_of(const Settings& complete, const trace::Trace& trace, bool costs);

/// The same for the packings and swizzle files to compare; none: all packings.
[[nodiscard]] Resolved resolved_of(const Settings& complete, const trace::Trace& trace, bool costs,
                                   const std::vector<std::string>& packings, const std::vector<std::string>& swizzles);

/// From `scheduler.hints` and `scheduler.hint_files`.
[[nodiscard]] scheduler::HintSources hints_of(const Settings& complete);

/// Options of the acceleration structure.
[[nodiscard]] bvh::BvhOptions structure_of(const Settings& complete);

/// Of calls in memory time; those of compare_of are of the fluid model (shader_accesses.hpp says how they differ).
[[nodiscard]] machine::CostOptions costs_in_memory_time(const Settings& complete);

/// Without models, assignment, accelerator and break-even.
[[nodiscard]] CompareOptions compare_of(const Settings& complete);
/// Paths in "NAME:BITS=FILE;…".
[[nodiscard]] std::vector<std::string> hint_file_paths(std::string_view hint_files);

/// The machine for scheduling and coalescing: the chosen one with line and sector of the L1 under study.
[[nodiscard]] machine::Machine stream_machine(const Settings& complete);
[[nodiscard]] memory::CoalesceOptions coalescing_of(const Settings& complete);
/// Whether the payload's size is that of the launch's shaders; `stream_of` then has the assumed one.
[[nodiscard]] bool is_payload_of_shaders(const Settings& complete);
/// Whether no payload goes through memory.
[[nodiscard]] bool is_payload_in_registers(const Settings& complete);
/// Whether the size of a pixel is given: then every thread writes it, whatever its shaders store. Else a thread writes
/// the assumed size, unless captured stores stand for its pixel.
[[nodiscard]] bool is_pixel_given(const Settings& complete);
[[nodiscard]] memory::StreamOptions stream_of(const Settings& complete, std::uint32_t warp_size);
[[nodiscard]] machine::InterleaveOptions interleaving_of(const Settings& complete, const machine::Machine& machine,
                                                         std::uint32_t warp_size);

[[nodiscard]] Hierarchy hierarchy_of(const Settings& complete);

/// All options of a cache experiment but the warp size, which the trace decides.
[[nodiscard]] CacheOptions cache_of(const Settings& complete);

}  // namespace rayreplay::experiment
