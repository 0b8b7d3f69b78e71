// From complete settings to what the stages' code takes.
//
// Contract: one function for each; they check what no single key can say (sizes that are no number of words, geometries
// that do not fit, costs of shaders that are no numbers), with the place of the setting where it is known. Errors:
// Usage.
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

/// What settings leave to the trace.
struct TraceDecisions {
  std::uint32_t warp_size = 32;
  std::string order;  ///< resolved spec
};

[[nodiscard]] TraceDecisions decisions(const Settings& complete, const InputFacts& facts);

/// Launch, warp size, order, packing and policy; `costs`: those of shader calls too. Errors as resolve's.
[[nodiscard]] Resolved resolved_of(const Settings& complete, const trace::Trace& trace, bool costs);

/// The same for packings and swizzle files that are compared; no packing: all of them.
[[nodiscard]] Resolved resolved_of(const Settings& complete, const trace::Trace& trace, bool costs,
                                   const std::vector<std::string>& packings, const std::vector<std::string>& swizzles);

/// Of `scheduler.hints` and `scheduler.hint_files`.
[[nodiscard]] scheduler::HintSources hints_of(const Settings& complete);

/// The structure's options.
[[nodiscard]] bvh::BvhOptions structure_of(const Settings& complete);

/// Without models, assignment and accelerator; no break-even.
[[nodiscard]] CompareOptions compare_of(const Settings& complete);
/// The files that "NAME:BITS=FILE;…" names.
[[nodiscard]] std::vector<std::string> hint_file_paths(std::string_view hint_files);

/// The machine that schedules and coalesces: the asked one with line and sector of the L1 that is asked about.
[[nodiscard]] machine::Machine stream_machine(const Settings& complete);
[[nodiscard]] memory::CoalesceOptions coalescing_of(const Settings& complete);
[[nodiscard]] memory::StreamOptions stream_of(const Settings& complete, std::uint32_t warp_size);
[[nodiscard]] machine::InterleaveOptions interleaving_of(const Settings& complete, const machine::Machine& machine,
                                                         std::uint32_t warp_size);

[[nodiscard]] Hierarchy hierarchy_of(const Settings& complete);

/// All that an experiment about caches takes; the warp size is for the trace to say.
[[nodiscard]] CacheOptions cache_of(const Settings& complete);

}  // namespace rayreplay::experiment
