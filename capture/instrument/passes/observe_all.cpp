// observe_all: any-hit shaders also run for opaque geometry.
//
// The NoOpaque ray flag overrides the flags of geometries and instances. An any-hit shader sees only the flags of the
// call, so it cannot tell a ray that the application made opaque, or not opaque, from one changed here: each trace call
// keeps the application's flags in a word of its thread. Without a table (no any-hit shader of the application in the
// pipeline) only reads of the incoming ray flags need it.
#include <algorithm>
#include <array>

#include "capture/instrument/passes/passes.hpp"

namespace rayreplay::instrument {

using spv::BuiltIn;
namespace {

/// The thread, by its launch id and size, in front of `more`.
template <std::size_t N>
std::array<Id, N + 2> of_thread(Rewriter& r, std::vector<Instruction>& out, std::span<const std::uint32_t> shaders,
                                const std::array<Id, N>& more) {
  std::array<Id, N + 2> arguments{r.builtin(out, BuiltIn::LaunchIdKHR, shaders),
                                  r.builtin(out, BuiltIn::LaunchSizeKHR, shaders)};
  std::copy(more.begin(), more.end(), arguments.begin() + 2);
  return arguments;
}

}  // namespace

bool looks_at_ray_flags(const Rewriter& r) {
  const auto traces = [](const Function& function) {
    return std::any_of(function.body.begin(), function.body.end(),
                       [](const Instruction& i) { return trace_layout(i.op()).acceleration_structure != 0; });
  };
  const auto any_hit = [](const Shader& shader) { return shader.stage == Stage::AnyHit; };
  const Module& module = r.module;
  return r.options.observe_all && (!r.variables(BuiltIn::IncomingRayFlagsKHR).empty() ||
                                   std::any_of(module.functions.begin(), module.functions.end(), traces) ||
                                   std::any_of(r.analysis.shaders.begin(), r.analysis.shaders.end(), any_hit));
}

void change_ray_flags(const Place& place, Instruction& call) {
  Rewriter& r = place.rewriter;
  const std::size_t at = trace_layout(call.op()).acceleration_structure + 1;
  const std::array<Id, 1> flags = {r.as_uint(place.out, call[at])};
  const Id function = r.lookup(r.options.opacity_address != 0 ? "rr_flags_by_table" : "rr_flags_all");
  call.set(at, r.call(place.out, r.linker.type_uint(), function, of_thread(r, place.out, place.shaders, flags)));
}

void keep_ray_flags(const Place& place, Id given) {
  Rewriter& r = place.rewriter;
  const std::array<Id, 1> flags = {given};
  (void)r.call(place.out, r.linker.type_void(), r.lookup("rr_keep_flags"),
               of_thread(r, place.out, place.shaders, flags));
}

Id incoming_ray_flags(Rewriter& r, std::vector<Instruction>& out, std::uint32_t shader) {
  const std::array<std::uint32_t, 1> shaders = {shader};
  const std::array<Id, 1> flags = {r.builtin_of(out, BuiltIn::IncomingRayFlagsKHR, shader)};
  return r.call(out, r.linker.type_uint(), r.lookup("rr_incoming_flags"), of_thread(r, out, shaders, flags));
}

Id is_opaque(Rewriter& r, std::vector<Instruction>& out, std::uint32_t shader) {
  const std::array<std::uint32_t, 1> shaders = {shader};
  const std::array<Id, 2> candidate = {r.builtin(out, BuiltIn::InstanceId, shaders),
                                       r.builtin(out, BuiltIn::RayGeometryIndexKHR, shaders)};
  return r.call(out, r.linker.type_bool(), r.lookup("rr_opaque"), of_thread(r, out, shaders, candidate));
}

}  // namespace rayreplay::instrument
