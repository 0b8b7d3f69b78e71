#include <algorithm>
#include <array>
#include <unordered_set>

#include "capture/instrument/passes/passes.hpp"

namespace rayreplay::instrument {

using spv::Op;

TraceLayout trace_layout(Word op) {
  switch (op) {
    case number(Op::OpTraceRayKHR):
    case number(Op::OpTraceNV):
    case number(Op::OpTraceMotionNV):
    case number(Op::OpTraceRayMotionNV):
      return {1, false};
    case number(Op::OpHitObjectTraceRayNV):
    case number(Op::OpHitObjectTraceRayMotionNV):
    case kOpHitObjectTraceRayEXT:
    case kOpHitObjectTraceRayMotionEXT:
    case kOpHitObjectTraceReorderExecuteEXT:
    case kOpHitObjectTraceMotionReorderExecuteEXT:
      return {2, true};
    default:
      return {};
  }
}

namespace {

bool may_define_acceleration_structure(const Instruction& i) {
  return i.is(Op::OpLoad) || i.is(Op::OpAccessChain) || i.is(Op::OpInBoundsAccessChain) || i.is(Op::OpCopyObject);
}

/// Sites are eight bits.
constexpr std::uint32_t kLastSite = 255;

}  // namespace

TraceSites::TraceSites(Rewriter& rewriter) : rewriter_(rewriter), next_(rewriter.analysis.shaders.size(), 0) {
  const Module& module = rewriter.module;
  std::unordered_set<Id> wanted;
  for (const Function& function : module.functions) {
    for (const Instruction& i : function.body) {
      if (const TraceLayout layout = trace_layout(i.op()); layout.acceleration_structure != 0) {
        wanted.insert(i[layout.acceleration_structure]);
      }
    }
  }
  // Definitions stand before their uses in the words, so that from the back every chain is found in one walk.
  for (auto function = module.functions.rbegin(); function != module.functions.rend(); ++function) {
    for (auto i = function->body.rbegin(); i != function->body.rend(); ++i) {
      if (may_define_acceleration_structure(*i) && wanted.contains((*i)[2])) {
        loads_.emplace((*i)[2], *i);
        wanted.insert((*i)[3]);
      }
    }
  }
  for (const Instruction& i : module.annotations) {
    if (i.is(Op::OpDecorate) && i[2] == static_cast<Word>(spv::Decoration::DescriptorSet)) {
      bindings_[i[1]].first = i[3];
    } else if (i.is(Op::OpDecorate) && i[2] == static_cast<Word>(spv::Decoration::Binding)) {
      bindings_[i[1]].second = i[3];
    }
  }
}

std::uint8_t TraceSites::add(const Instruction& call, std::size_t function) {
  const std::vector<std::uint32_t>& shaders = rewriter_.analysis.reached_by[function];
  std::uint32_t site = 0;
  for (const std::uint32_t shader : shaders) {
    site = std::max(site, next_[shader]);
  }
  if (site > kLastSite) {
    site = kLastSite;
    rewriter_.note("more than 256 trace calls in one shader: those from the 256th on share site 255");
  }
  // From the operand back to a variable with a binding. Each step goes to an earlier definition; a module in which it
  // does not is malformed, and ends the walk by its number of steps.
  Id id = call[trace_layout(call.op()).acceleration_structure];
  for (std::size_t steps = 0; steps <= loads_.size(); ++steps) {
    const auto definition = loads_.find(id);
    if (definition == loads_.end()) {
      break;
    }
    id = definition->second[3];
  }
  const auto binding = bindings_.find(id);
  for (const std::uint32_t shader : shaders) {
    next_[shader] = site + 1;
    TraceSite entry{rewriter_.analysis.shaders[shader].id, static_cast<std::uint8_t>(site), false, 0, 0};
    if (binding != bindings_.end()) {
      entry.bound = true;
      entry.set = binding->second.first;
      entry.binding = binding->second.second;
    }
    rewriter_.result.sites.push_back(entry);
  }
  return static_cast<std::uint8_t>(site);
}

void record_trace_call(const Place& place, const Instruction& call, std::uint8_t site) {
  Rewriter& r = place.rewriter;
  const TraceLayout layout = trace_layout(call.op());
  const std::size_t at = layout.acceleration_structure + 1;
  const std::array<Id, 11> arguments = {
      r.linker.constant(site),
      r.linker.constant(layout.hit_object ? 1 : 0),
      r.as_uint(place.out, call[at]),
      r.as_uint(place.out, call[at + 1]),
      r.as_uint(place.out, call[at + 2]),
      r.as_uint(place.out, call[at + 3]),
      r.as_uint(place.out, call[at + 4]),
      call[at + 5],
      call[at + 6],
      call[at + 7],
      call[at + 8],
  };
  r.probe(place.out, "rr_trace", place.shaders, arguments);
}

}  // namespace rayreplay::instrument
