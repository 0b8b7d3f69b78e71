// Costs of warp events: issue slots and latency by call, and traversal steps by ray.
//
// Contract: a warp event of a call takes `issue` issue slots of its SM (the call's instructions, issued once for the
// whole warp) and, alone on the machine, `latency` cycles (issue included: latency ≥ issue). A ray's traversal takes
// `steps` visits of the ray-tracing unit, at the warp's Begin. Sources of a call's cost, by falling precedence:
//   hand      TOML: shader by id, name or stage, as in the experiment's [costs], or one kind of its calls as ID/CALL,
//             which wins ("4/begin", also a trace call of a hit shader): a number of instructions, or a table
//             with `issue`, `latency`, or `blocks` (a list of {instructions, executions}, with `calls`: issue = Σ
//             instructions · executions / calls), or `times`: a factor for what the sources below say (each single
//             call's own cost, where they come from paths)
//   captured  latency only: median time between consecutive co-execution groups of a warp, by call of the first (only
//             on request; issue comes from the sources below)
//   paths     instructions that each single call executed, from the trace's paths (path_costs.hpp). Here the mean over
//             the launch's calls, for ray generation over its trace calls; Costs::paths has those of each event
//   blocks    instructions that a call executed on average, from the trace's counts of basic blocks
//             (cost_sources.hpp); for ray generation, those of a trace call
//   spirv     instructions of the shader's entry point and its callees, each block once, if the trace has the module
//             (as the application gave it, not optimised; without loads and stores of local variables:
//             cost_sources.hpp); for ray generation, a trace call's share of them
//   default   by stage (docs/assumptions.md gives the sources of the figures)
//
// A shader's instructions and its latency each take the first source that knows them; instructions by hand leave no
// other latency than one by hand. CostSource names the sources in use: Auto all but captured; Paths the
// same, but the launch must have paths; Blocks all but captured and paths, and the trace must have counts; Spirv all
// but captured, paths and blocks; Default hand and default; Captured all.
//
// A shader's cost belongs to its entry. Ray generation's belongs to its trace calls, which represent the code between
// them. Trace calls of other shaders have the default cost, unless
// ID/CALL names them. Missing latency = issue · cycles_per_instruction. Errors:
// Usage for unknown shaders or keys, negative or absurd values; Missing for `captured` without clocks, `paths` without
// paths, `blocks` without counts of blocks, `spirv` without modules; Input for counts of blocks that a module does not
// have.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "bvh/bvh.hpp"
#include "capture/trace/trace.hpp"
#include "scheduler-models/regrouping/segments.hpp"
#include "sim/machine/origin.hpp"
#include "sim/machine/path_costs.hpp"

namespace rayreplay::machine {

struct CallCost {
  double issue = 0;            ///< warp instructions
  double latency = 0;          ///< cycles
  std::string origin;          ///< of the instructions: "hand", "paths", "blocks", "spirv", "default"
  std::string latency_origin;  ///< "hand", "captured"; empty: the latency is issue · cycles_per_instruction
  double times = 1;            ///< a factor by hand; `issue` is already multiplied by it

  /// Each event has the cost of its own path (Costs::paths); this one is their mean.
  [[nodiscard]] bool by_path() const {
    return origin == "paths";
  }
  /// The latency is known by itself.
  [[nodiscard]] bool own_latency() const {
    return !latency_origin.empty();
  }
};

/// How a source knows its number: "hand" is given, "captured", "paths" and "blocks" captured, "spirv" counted,
/// "default" assumed.
[[nodiscard]] Origin origin_of_source(std::string_view source);

inline constexpr double kMaxIssue = 1e6;    ///< instructions of one call
inline constexpr double kMaxLatency = 2e8;  ///< cycles of one call
inline constexpr double kMaxTimes = 1e6;    ///< factor by hand
inline constexpr double kMaxCyclesPerInstruction = 200;
inline constexpr double kMaxSteps = 1e6;

enum class CostSource : std::uint8_t { Auto, Default, Spirv, Blocks, Paths, Captured };

struct HandCost {
  std::string shader;  ///< stage, name or id, as in [costs], or ID/CALL
  double issue = -1;   ///< below 0: not given
  double latency = -1;
  double times = -1;  ///< in place of `issue`: a factor for the instructions of the call's source
};

struct CostOptions {
  CostSource source = CostSource::Auto;
  std::vector<HandCost> hand{};
  double cycles_per_instruction = 6;       ///< of a warp alone: dependent arithmetic and a share of memory waits
  double steps_per_ray = 24;               ///< if no traversal was replayed
  std::vector<std::uint32_t> ray_steps{};  ///< by row of the launch's rays: visits; empty: steps_per_ray
  double captured_clock_mhz = 1500;        ///< of the captured device, to convert its nanoseconds
};

struct Costs {
  std::vector<CallCost> calls;  ///< index: shader · trace::kEventKinds + kind
  double steps_per_ray = 24;
  std::vector<std::uint32_t> ray_steps;  ///< as in CostOptions
  /// Of the calls whose `origin` is "paths"; null if there are none. Refers to the trace.
  std::shared_ptr<const PathCosts> paths;
};

/// The table [shader_costs] of a TOML file: `metal = 40`, `metal = {issue = 40, latency = 400}`, `metal = {times = 2}`,
/// `metal = {blocks = [{instructions = 12, executions = 100}], calls = 50}`.
[[nodiscard]] std::vector<HandCost> parse_shader_costs(std::string_view toml, const std::string& source);

/// Default instructions of a call; docs/assumptions.md gives their source. A trace call outside of ray generation only
/// hands the ray over: the rest is in that shader's own call.
[[nodiscard]] double default_instructions(trace::ShaderStage stage, trace::EventKind kind);

[[nodiscard]] Costs make_costs(const trace::Trace& trace, const trace::Launch& launch, const CostOptions& options);

/// Visits (nodes and leaves) of every ray of the launch in the near-first traversal of `structure`.
[[nodiscard]] std::vector<std::uint32_t> count_ray_steps(const trace::Launch& launch, const bvh::Bvh& structure,
                                                         Progress* progress = nullptr);

}  // namespace rayreplay::machine
