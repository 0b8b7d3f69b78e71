// observe_all: any-hit shaders run for what is opaque, too.
//
// The NoOpaque ray flag overrules the flags of geometries and instances. An any-hit shader sees only the flag that the
// call was given, so a ray that the application made opaque, or not opaque, cannot be told from one that changed here.
// Therefore: without a table (the pipeline has no any-hit shader of the application) every ray changes; with one, only
// rays without any opacity flag do, and Result::no_opaque_rays says whether the module may trace others that look
// alike.
#include <array>

#include "capture/instrument/passes/passes.hpp"

namespace rayreplay::instrument {

using spv::BuiltIn;
using spv::Op;

namespace {

constexpr Word kNoOpaque = static_cast<Word>(spv::RayFlagsMask::NoOpaqueKHR);

}  // namespace

void change_ray_flags(const Place& place, Instruction& call) {
  Rewriter& r = place.rewriter;
  const std::size_t at = trace_layout(call.op()).acceleration_structure + 1;
  const Instruction* flags = r.global(call[at]);
  const bool known = flags != nullptr && flags->is(Op::OpConstant);
  if (!known || ((*flags)[3] & kNoOpaque) != 0) {
    r.result.no_opaque_rays = true;
  }
  const bool by_table = r.options.opacity_address != 0;
  if (by_table) {
    r.note("observe_all: rays with the Opaque or a Cull flag stay as they are, as the application has any-hit shaders");
  } else {
    r.note("observe_all: rays that cull by opacity stay as they are");
  }
  const std::array<Id, 1> arguments = {r.as_uint(place.out, call[at])};
  const Id function = r.lookup(by_table ? "rr_flags_by_table" : "rr_flags_all");
  call.set(at, r.call(place.out, r.linker.type_uint(), function, arguments));
}

Id incoming_ray_flags(Rewriter& r, std::vector<Instruction>& out, std::uint32_t shader) {
  const std::array<Id, 1> arguments = {r.builtin_of(out, BuiltIn::IncomingRayFlagsKHR, shader)};
  return r.call(out, r.linker.type_uint(), r.lookup("rr_incoming_flags"), arguments);
}

Id is_opaque(Rewriter& r, std::vector<Instruction>& out, std::uint32_t shader) {
  const std::array<std::uint32_t, 1> shaders = {shader};
  const std::array<Id, 2> arguments = {r.builtin(out, BuiltIn::InstanceId, shaders),
                                       r.builtin(out, BuiltIn::RayGeometryIndexKHR, shaders)};
  return r.call(out, r.linker.type_bool(), r.lookup("rr_opaque"), arguments);
}

}  // namespace rayreplay::instrument
