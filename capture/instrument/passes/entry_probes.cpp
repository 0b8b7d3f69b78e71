// Every ray-tracing entry point gets a function in front: it sets private variables, calls the probe, then the
// application's function. That function stays whole: no block is split, its variables stay first, and it may serve
// several entry points.
#include <array>
#include <set>

#include "capture/instrument/passes/passes.hpp"

namespace rayreplay::instrument {

using spv::BuiltIn;
using spv::Op;

namespace {

const char* probe_name(Stage stage) {
  switch (stage) {
    case Stage::RayGeneration:
      return "rr_ray_generation";
    case Stage::Intersection:
      return "rr_intersection";
    case Stage::AnyHit:
      return "rr_any_hit";
    case Stage::ClosestHit:
      return "rr_closest_hit";
    case Stage::Miss:
      return "rr_miss";
    case Stage::Callable:
    case Stage::Vertex:
    case Stage::Fragment:
    case Stage::Compute:
      break;
  }
  return "rr_callable";
}

/// RayGeometryIndexKHR came with SPV_KHR_ray_tracing.
Id geometry_index(Rewriter& r, std::vector<Instruction>& out, std::span<const std::uint32_t> shaders) {
  if (r.module.has(spv::Capability::RayTracingKHR)) {
    return r.builtin(out, BuiltIn::RayGeometryIndexKHR, shaders);
  }
  r.note("SPV_NV_ray_tracing tells no geometry index: it is recorded as 0");
  return r.linker.constant(0);
}

void record_entry(Rewriter& r, std::vector<Instruction>& out, std::uint32_t s) {
  const Stage stage = r.analysis.shaders[s].stage;
  const std::array<std::uint32_t, 1> shaders = {s};
  std::vector<Id> arguments;
  if (stage == Stage::Intersection || stage == Stage::AnyHit || stage == Stage::ClosestHit) {
    arguments.push_back(r.builtin(out, BuiltIn::RayTmaxKHR, shaders));
    arguments.push_back(r.builtin(out, BuiltIn::InstanceId, shaders));
    arguments.push_back(r.builtin(out, BuiltIn::PrimitiveId, shaders));
    arguments.push_back(geometry_index(r, out, shaders));
    if (stage != Stage::Intersection) {
      arguments.push_back(r.builtin(out, BuiltIn::HitKindKHR, shaders));
    }
  }
  r.probe(out, probe_name(stage), shaders, arguments);
}

/// The value of a private copy of a built-in variable: the one that the application sees.
Id value_of(Rewriter& r, std::vector<Instruction>& out, BuiltIn which, std::uint32_t shader) {
  if (which == BuiltIn::LaunchIdKHR && r.options.swizzle) {
    return swizzled_launch_id(r, out, shader);
  }
  if (which == BuiltIn::IncomingRayFlagsKHR && r.options.observe_all) {
    return incoming_ray_flags(r, out, shader);
  }
  return r.builtin_of(out, which, shader);
}

/// An any-hit shader that ends accepts its candidate, as an opaque one is.
void call_unless_opaque(Rewriter& r, std::vector<Instruction>& out, std::uint32_t shader, Id function) {
  const Id opaque = is_opaque(r, out, shader);
  const Id run = r.linker.fresh();
  const Id end = r.linker.fresh();
  out.emplace_back(Op::OpSelectionMerge, std::initializer_list<Word>{end, 0});
  out.emplace_back(Op::OpBranchConditional, std::initializer_list<Word>{opaque, end, run});
  out.emplace_back(Op::OpLabel, std::initializer_list<Word>{run});
  (void)r.call(out, r.linker.type_void(), function, {});
  out.emplace_back(Op::OpBranch, std::initializer_list<Word>{end});
  out.emplace_back(Op::OpLabel, std::initializer_list<Word>{end});
}

/// Empty, or why the entry point cannot have a function in front.
std::string check_entry(const Rewriter& r, const Shader& shader) {
  const Id id = r.module.entry_points[shader.entry_point][2];
  const auto function = r.analysis.function_of.find(id);
  if (function == r.analysis.function_of.end()) {
    return "entry point " + shader.name + " names no function";
  }
  const std::vector<Instruction>& body = r.module.functions[function->second].body;
  if (body.size() > 1 && body[1].is(Op::OpFunctionParameter)) {
    return "the function of entry point " + shader.name + " has parameters";
  }
  if (shader.stage == Stage::AnyHit && r.options.observe_all && r.options.opacity_address != 0 &&
      !r.module.has(spv::Capability::RayTracingKHR)) {
    return "SPV_NV_ray_tracing tells no geometry index, which the opacity table needs";
  }
  return {};
}

}  // namespace

std::string wrap_entry_points(Rewriter& r, const ReplacedBuiltins& replaced, const Paths* paths) {
  const Id type_void = r.linker.type_void();
  const Id type_function = r.linker.type_function(type_void, {});
  std::set<Id> wrapped;
  std::vector<std::pair<Id, Id>> wrappers;  // the application's function, ours
  std::vector<Function> functions;
  // Entries are recorded first: they may request private variables, which every shader then sets.
  std::vector<std::vector<Instruction>> records(r.analysis.shaders.size());
  replaced.ask_for_copies(r);
  for (std::uint32_t s = 0; s < r.analysis.shaders.size(); ++s) {
    if (std::string reason = check_entry(r, r.analysis.shaders[s]); !reason.empty()) {
      return reason;
    }
    if (r.options.record) {
      record_entry(r, records[s], s);
    }
  }
  for (std::uint32_t s = 0; s < r.analysis.shaders.size(); ++s) {
    const Shader& shader = r.analysis.shaders[s];
    Instruction& entry = r.module.entry_points[shader.entry_point];
    const Id original = entry[2];
    const bool check_opacity = shader.stage == Stage::AnyHit && r.options.observe_all && r.options.opacity_address != 0;
    if (records[s].empty() && r.private_copies().empty() && r.shader_variable() == 0 && !check_opacity) {
      continue;  // nothing to do before the application's function
    }
    Function function;
    std::vector<Instruction>& body = function.body;
    const Id wrapper = r.linker.fresh();
    body.emplace_back(Op::OpFunction, std::initializer_list<Word>{type_void, wrapper, 0, type_function});
    body.emplace_back(Op::OpLabel, std::initializer_list<Word>{r.linker.fresh()});
    if (r.shader_variable() != 0) {
      r.store(body, r.shader_variable(), r.linker.constant(shader.id));
    }
    if (r.trace_counter != 0) {
      r.store(body, r.trace_counter, r.linker.constant(0));
    }
    for (const auto& [which, variable] : r.private_copies()) {
      r.store(body, variable, value_of(r, body, which, s));
    }
    replaced.store_copies(r, body);
    body.insert(body.end(), records[s].begin(), records[s].end());
    if (paths != nullptr) {
      paths->begin(body, s);
    }
    if (check_opacity) {
      call_unless_opaque(r, body, s, original);
    } else {
      (void)r.call(body, type_void, original, {});
    }
    if (paths != nullptr) {
      paths->end(body, s, false);
    }
    body.emplace_back(Op::OpReturn, std::initializer_list<Word>{});
    body.emplace_back(Op::OpFunctionEnd, std::initializer_list<Word>{});
    r.linker.add_function(std::move(function));
    entry.set(2, wrapper);
    wrapped.insert(original);
    wrappers.emplace_back(original, wrapper);
  }
  // Execution modes go with the entry points.
  std::set<Id> still_used;
  for (const Instruction& entry : r.module.entry_points) {
    still_used.insert(entry[2]);
  }
  std::vector<Instruction> modes;
  for (const Instruction& mode : r.module.execution_modes) {
    if (!wrapped.contains(mode[1]) || still_used.contains(mode[1])) {
      modes.push_back(mode);
    }
    for (const auto& [original, wrapper] : wrappers) {
      if (mode[1] == original) {
        modes.push_back(mode);
        modes.back().set(1, wrapper);
      }
    }
  }
  r.module.execution_modes = std::move(modes);
  return {};
}

}  // namespace rayreplay::instrument
