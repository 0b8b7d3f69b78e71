#include "capture/instrument/ser/left_alone.hpp"

#include <algorithm>

#include "capture/spirv/trace_calls.hpp"

namespace rayreplay::instrument {

using spv::Op;

namespace {

constexpr Word kVersion14 = 0x00010400;  ///< SPV_NV_shader_invocation_reorder requires it
constexpr std::size_t kFlagsWord = 2;
constexpr std::size_t kPayloadWord = 11;
constexpr std::size_t kTraceRayWords = 12;
/// Flags are a few bits joined; longer expressions count as unknown.
constexpr int kMostJoined = 32;

const char* name_of(Stage stage) {
  switch (stage) {
    case Stage::RayGeneration:
      return "ray-generation";
    case Stage::Intersection:
      return "intersection";
    case Stage::AnyHit:
      return "any-hit";
    case Stage::ClosestHit:
      return "closest-hit";
    case Stage::Miss:
      return "miss";
    case Stage::Callable:
      return "callable";
    case Stage::Vertex:
    case Stage::Fragment:
    case Stage::Compute:
      break;
  }
  return "";
}

}  // namespace

LeftAlone::LeftAlone(const Module& module, const Analysis& analysis) : analysis_(analysis) {
  for (const Instruction& i : module.globals) {
    if (i.is(Op::OpConstant)) {
      definitions_.emplace(i[2], i);
    } else if (i.is(Op::OpVariable)) {
      variables_.emplace(i[2], static_cast<spv::StorageClass>(i[3]));
    }
  }
  for (const Function& function : module.functions) {
    for (const Instruction& i : function.body) {
      if (i.is(Op::OpBitwiseOr) || i.is(Op::OpBitcast) || i.is(Op::OpCopyObject)) {
        definitions_.emplace(i[2], i);
      }
    }
  }
}

const Instruction* LeftAlone::definition(Id id) const {
  const auto found = definitions_.find(id);
  return found == definitions_.end() ? nullptr : &found->second;
}

ClosestHits LeftAlone::closest_hits(Id flags) const {
  bool known = true;
  std::vector<Id> open = {flags};
  for (int steps = 0; !open.empty(); ++steps) {
    const Instruction* value = definition(open.back());
    open.pop_back();
    if (value == nullptr || steps == kMostJoined) {
      known = false;
    } else if (value->is(Op::OpConstant)) {
      if (((*value)[3] & kSkipsClosestHit) != 0) {
        return ClosestHits::Skipped;
      }
    } else {
      open.push_back((*value)[3]);
      if (value->is(Op::OpBitwiseOr)) {
        open.push_back((*value)[4]);
      }
    }
    if (steps == kMostJoined) {
      break;
    }
  }
  return known ? ClosestHits::Called : ClosestHits::Unknown;
}

std::string LeftAlone::reason(std::size_t function, const Instruction& call) const {
  if (call.is(Op::OpTraceRayMotionNV) || call.is(Op::OpTraceMotionNV)) {
    return "rays with motion blur are not taken apart";
  }
  if (!call.is(Op::OpTraceRayKHR) || call.size() < kTraceRayWords) {
    return "only OpTraceRayKHR is taken apart";
  }
  for (const std::uint32_t shader : analysis_.reached_by[function]) {
    if (const Stage stage = analysis_.shaders[shader].stage; stage != Stage::RayGeneration) {
      return std::string(name_of(stage)) +
             " shaders run this code, and only ray-generation shaders may reorder threads";
    }
  }
  const auto payload = variables_.find(call[kPayloadWord]);
  if (payload == variables_.end() || (payload->second != spv::StorageClass::RayPayloadKHR &&
                                      payload->second != spv::StorageClass::IncomingRayPayloadKHR)) {
    return "the payload is no payload variable";
  }
  if (closest_hits(call[kFlagsWord]) == ClosestHits::Skipped) {
    return "the ray skips closest-hit shaders, so there is little to sort";
  }
  return {};
}

std::string whole_module_left_alone(const Module& module) {
  if (module.has(spv::Capability::ShaderInvocationReorderNV) ||
      module.has(static_cast<spv::Capability>(kCapabilityShaderInvocationReorderEXT))) {
    return "the shader uses hit objects of its own";
  }
  if (module.version < kVersion14) {
    return "hit objects need SPIR-V 1.4";
  }
  return {};
}

}  // namespace rayreplay::instrument
