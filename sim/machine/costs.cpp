#include "sim/machine/costs.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/parameters.hpp"
#include "sim/machine/cost_sources.hpp"
#include "sim/machine/shader_names.hpp"

namespace rayreplay::machine {
namespace {

using trace::EventKind;
using trace::ShaderStage;

constexpr std::string_view kHand = "hand";
constexpr std::string_view kPaths = "paths";

/// True for the shader's own calls: its entry, or for ray generation a trace call, which represents the code between
/// two of them.
constexpr bool is_own_call(ShaderStage stage, EventKind kind) {
  switch (stage) {
    case ShaderStage::RayGeneration:
      return trace::begins_ray(kind);
    case ShaderStage::Intersection:
      return kind == EventKind::Intersection;
    case ShaderStage::AnyHit:
      return kind == EventKind::AnyHit;
    case ShaderStage::ClosestHit:
      return kind == EventKind::ClosestHit;
    case ShaderStage::Miss:
      return kind == EventKind::Miss;
    case ShaderStage::Callable:
      return kind == EventKind::Callable;
    case ShaderStage::Vertex:
    case ShaderStage::Fragment:
    case ShaderStage::Compute:
      break;
  }
  return false;
}

/// Not (value < minimum): NaN is out of range too.
void check_range(std::string_view what, const std::string& where, double value, double minimum, double maximum) {
  if (!(value >= minimum && value <= maximum)) {
    throw Error(ErrorKind::Usage, {fmt::format("{} is out of range", what), where, fmt::format("{}", value),
                                   fmt::format("{} to {}", minimum, maximum), ""});
  }
}

void check_options(const trace::Launch& launch, const CostOptions& options) {
  check_range("the number of cycles per instruction", "costs", options.cycles_per_instruction, 1,
              kMaxCyclesPerInstruction);
  check_range("the number of traversal steps per ray", "costs", options.steps_per_ray, 0, kMaxSteps);
  if (!options.ray_steps.empty() && options.ray_steps.size() != launch.data.rays.size()) {
    throw Error(ErrorKind::Internal, {"the steps are not those of the launch's rays", "make_costs",
                                      fmt::format("{} steps", options.ray_steps.size()),
                                      fmt::format("{} rays", launch.data.rays.size()), ""});
  }
  for (const HandCost& hand : options.hand) {
    if (hand.issue >= 0 || !(hand.issue < 0)) {
      check_range("the instructions of a shader call", "shader_costs." + hand.shader, hand.issue, 0, kMaxIssue);
    }
    if (hand.times >= 0 || !(hand.times < 0)) {
      check_range("the factor of a shader's cost", "shader_costs." + hand.shader, hand.times, 0, kMaxTimes);
    }
    if (hand.latency >= 0 || !(hand.latency < 0)) {
      check_range("the latency of a shader call", "shader_costs." + hand.shader, hand.latency,
                  std::max(hand.issue, 0.0), kMaxLatency);
    }
  }
}

/// The instructions of each of the shader's own calls, from its module.
void add_spirv(const trace::Trace& trace, std::vector<CallCost>& calls) {
  for (std::size_t id = 0; id < trace.shaders.size(); ++id) {
    const trace::Shader& shader = trace.shaders[id];
    const auto count = count_spirv(shader.spirv, shader.stage, shader.entry);
    if (!count) {
      continue;
    }
    for (std::size_t kind = 0; kind < trace::kEventKinds; ++kind) {
      if (is_own_call(shader.stage, static_cast<EventKind>(kind))) {
        CallCost& call = calls[id * trace::kEventKinds + kind];
        // Ray generation is visible only at its trace calls, so they share its instructions.
        const bool shared = shader.stage == ShaderStage::RayGeneration && count->trace_calls > 0;
        call.issue = count->instructions / (shared ? count->trace_calls : 1);
        call.origin = "spirv";
      }
    }
  }
}

/// The instructions that each of the shader's own calls executed.
void add_blocks(const trace::Trace& trace, const trace::Launch& launch, std::vector<CallCost>& calls) {
  const std::vector<double> executed = executed_instructions(trace, launch);
  for (std::size_t i = 0; i < calls.size() && !executed.empty(); ++i) {
    const std::size_t shader = i / trace::kEventKinds;
    if (executed[shader] >= 0 &&
        is_own_call(trace.shaders[shader].stage, static_cast<EventKind>(i % trace::kEventKinds))) {
      calls[i].issue = executed[shader];
      calls[i].origin = "blocks";
    }
  }
}

/// The mean instructions of the launch's calls, each by its own path.
void add_path_means(const trace::Trace& trace, const PathCosts& paths, std::vector<CallCost>& calls) {
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const std::size_t shader = i / trace::kEventKinds;
    if (paths.means()[shader] >= 0 &&
        is_own_call(trace.shaders[shader].stage, static_cast<EventKind>(i % trace::kEventKinds))) {
      calls[i].issue = paths.means()[shader];
      calls[i].origin = kPaths;
    }
  }
}

/// Keeps the costs of single calls of those that still come from paths. Null if there are none.
std::shared_ptr<const PathCosts> costs_by_path(std::shared_ptr<PathCosts> paths, const std::vector<CallCost>& calls) {
  if (paths == nullptr) {
    return nullptr;
  }
  std::vector<std::size_t> chosen;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    if (calls[i].by_path()) {
      chosen.push_back(i);
    }
  }
  paths->choose(chosen);
  return paths->calls().empty() ? nullptr : std::move(paths);
}

[[nodiscard]] bool comes_from(const std::vector<CallCost>& calls, std::string_view origin) {
  return std::ranges::find(calls, origin, &CallCost::origin) != calls.end();
}

void require_source(CostSource source, const std::vector<CallCost>& calls) {
  if (source == CostSource::Spirv && !comes_from(calls, "spirv")) {
    throw Error(ErrorKind::Missing,
                {"the trace has no shader modules to count instructions in", "cost source 'spirv'",
                 "shaders without SPIR-V", "a captured trace, or at least one shader with its module",
                 "capture the application (rayreplay capture), or give costs by --shader-cost"});
  }
  if (source == CostSource::Paths && !comes_from(calls, kPaths)) {
    throw Error(ErrorKind::Missing, {"the launch has no paths of shader calls", "cost source 'paths'",
                                     "no paths of this launch's calls in /profile/paths", "paths of at least one call",
                                     "capture the application with --profile paths, or take the cost source auto"});
  }
  if (source == CostSource::Blocks && !comes_from(calls, "blocks")) {
    throw Error(ErrorKind::Missing, {"the trace has no counts of basic blocks that ran", "cost source 'blocks'",
                                     "no counts in /profile/blocks", "counts of at least one shader",
                                     "capture the application with --profile blocks, or take the cost source auto"});
  }
}

void add_captured(const trace::Trace& trace, const trace::Launch& launch, double clock_mhz,
                  std::vector<CallCost>& calls) {
  check_range("the clock of the captured device", "costs", clock_mhz, 1, 1e5);
  const std::vector<double> nanoseconds = captured_nanoseconds(launch, trace.shaders.size());
  if (nanoseconds.empty()) {
    throw Error(ErrorKind::Missing,
                {"the launch has no clocks to take costs from", "",
                 launch.groups.size() == 0 ? "no groups" : "no clock", "co-execution groups with the device's clock",
                 "capture it with rayreplay capture on a device that has VK_KHR_shader_clock, or take the costs from "
                 "SPIR-V or by hand"});
  }
  for (std::size_t i = 0; i < calls.size(); ++i) {
    if (nanoseconds[i] >= 0) {
      calls[i].latency = std::clamp(nanoseconds[i] * clock_mhz / 1e3, calls[i].issue, kMaxLatency);
      calls[i].latency_origin = "captured";
    }
  }
}

/// `by_source`: without any cost by hand.
void set_by_hand(const HandCost& hand, double cycles_per_instruction, const CallCost& by_source, CallCost& call) {
  if (hand.issue >= 0) {
    call.issue = hand.issue;
    call.latency = hand.issue * cycles_per_instruction;
    call.origin = kHand;
    call.latency_origin.clear();
    call.times = 1;
  }
  if (hand.times >= 0) {
    call = by_source;
    call.issue = std::min(by_source.issue * hand.times, kMaxIssue);
    call.latency = call.own_latency() ? std::max(call.latency, call.issue) : call.issue * cycles_per_instruction;
    call.times = hand.times;
  }
  if (hand.latency >= 0) {
    call.latency = hand.latency;
    call.latency_origin = kHand;
  }
  if (hand.latency >= 0 && call.issue > hand.latency) {
    call.issue = hand.latency;
    call.origin = kHand;
  }
}

void add_hand(const trace::Trace& trace, const CostOptions& options, std::vector<CallCost>& calls) {
  constexpr int kOneCall = 4;  // more precise than any name of a shader
  std::vector<int> ranks(calls.size(), 0);
  const std::vector<CallCost> by_source = calls;
  for (const HandCost& hand : options.hand) {
    bool used = false;
    for (std::size_t id = 0; id < trace.shaders.size(); ++id) {
      const trace::Shader& shader = trace.shaders[id];
      const int of_shader = match_rank(hand.shader, shader, id);
      used = used || of_shader > 0;
      for (std::size_t i = 0; i < trace::kEventKinds; ++i) {
        const auto kind = static_cast<EventKind>(i);
        const bool one_call = trace::is_warp_event(kind) && hand.shader == key_of_call(id, kind);
        const int rank = one_call ? kOneCall : is_own_call(shader.stage, kind) ? of_shader : 0;
        const std::size_t index = id * trace::kEventKinds + i;
        if (rank > 0 && rank >= ranks[index]) {
          ranks[index] = rank;
          set_by_hand(hand, options.cycles_per_instruction, by_source[index], calls[index]);
        }
        used = used || one_call;
      }
    }
    if (!used) {
      unknown_shader(hand.shader, trace, "shader_costs");
    }
  }
}

}  // namespace

Origin origin_of_source(std::string_view source) {
  return source == kHand        ? Origin::Given
         : source == "captured" ? Origin::Captured
         : source == kPaths     ? Origin::Captured
         : source == "blocks"   ? Origin::Captured
         : source == "spirv"    ? Origin::Counted
                                : Origin::Assumed;
}

double default_instructions(ShaderStage stage, EventKind kind) {
  switch (kind) {
    case EventKind::Begin:
    case EventKind::OcclusionBegin:
      return stage == ShaderStage::RayGeneration ? 120 : 30;
    case EventKind::Intersection:
      return 60;
    case EventKind::AnyHit:
      return 200;
    case EventKind::Miss:
      return 20;
    case EventKind::ClosestHit:
      return 250;
    case EventKind::Callable:
      return 40;
    default:
      return 0;
  }
}

Costs make_costs(const trace::Trace& trace, const trace::Launch& launch, const CostOptions& options) {
  check_options(launch, options);
  Costs costs;
  costs.steps_per_ray = options.steps_per_ray;
  costs.ray_steps = options.ray_steps;
  costs.calls.resize(trace.shaders.size() * trace::kEventKinds);
  for (std::size_t i = 0; i < costs.calls.size(); ++i) {
    costs.calls[i].issue = default_instructions(trace.shaders[i / trace::kEventKinds].stage,
                                                static_cast<EventKind>(i % trace::kEventKinds));
    costs.calls[i].origin = "default";
  }
  std::shared_ptr<PathCosts> paths;
  if (options.source != CostSource::Default) {
    add_spirv(trace, costs.calls);
    if (options.source != CostSource::Spirv) {
      add_blocks(trace, launch, costs.calls);
      paths = options.source == CostSource::Blocks ? nullptr : measure_paths(trace, launch);
    }
    if (paths != nullptr) {
      add_path_means(trace, *paths, costs.calls);
    }
    require_source(options.source, costs.calls);
  }
  for (CallCost& call : costs.calls) {
    call.latency = call.issue * options.cycles_per_instruction;
  }
  if (options.source == CostSource::Captured) {
    add_captured(trace, launch, options.captured_clock_mhz, costs.calls);
  }
  add_hand(trace, options, costs.calls);
  costs.paths = costs_by_path(std::move(paths), costs.calls);
  return costs;
}

}  // namespace rayreplay::machine
