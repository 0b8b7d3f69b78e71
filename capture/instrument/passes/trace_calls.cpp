#include <array>

#include "capture/instrument/passes/passes.hpp"

namespace rayreplay::instrument {

using spv::Op;

namespace {

/// Instructions whose operand 3 is the source of the value or pointer.
bool passes_on(const Instruction& i) {
  return i.is(Op::OpLoad) || i.is(Op::OpAccessChain) || i.is(Op::OpInBoundsAccessChain) || i.is(Op::OpCopyObject);
}

/// Bound on the chain from an operand to its variable; real ones are a few instructions long.
constexpr int kLongestOrigin = 64;

}  // namespace

TraceSites::TraceSites(Rewriter& rewriter) : rewriter_(rewriter), numbers_(rewriter.analysis.shaders.size()) {
  const Module& module = rewriter.module;
  std::unordered_map<Id, std::vector<Id>> parameters;  // by function
  for (const Function& function : module.functions) {
    for (const Instruction& i : function.body) {
      if (i.is(Op::OpFunctionParameter)) {
        parameters[function.id()].push_back(i[2]);
      } else if (passes_on(i)) {
        origins_[i[2]] = i[3];
      }
    }
  }
  for (const Function& function : module.functions) {
    for (const Instruction& i : function.body) {
      if (!i.is(Op::OpFunctionCall)) {
        continue;
      }
      const std::vector<Id>& callee = parameters[i[3]];
      for (std::size_t p = 0; p < callee.size(); ++p) {
        const auto [known, fresh] = origins_.emplace(callee[p], i[4 + p]);
        if (!fresh && known->second != i[4 + p]) {
          known->second = 0;  // calls differ
        }
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
  const auto [site, shared] = numbers_.next(shaders);
  if (shared) {
    rewriter_.note("more than 256 trace calls in one shader: those from the 256th on share site 255");
  }
  // From the operand back to a variable with a binding.
  Id id = call[trace_layout(call.op()).acceleration_structure];
  for (int steps = 0; steps < kLongestOrigin; ++steps) {
    const auto origin = origins_.find(id);
    if (origin == origins_.end()) {
      break;
    }
    id = origin->second;
  }
  const auto binding = bindings_.find(id);
  for (const std::uint32_t shader : shaders) {
    TraceSite entry{rewriter_.analysis.shaders[shader].id, site, false, 0, 0};
    if (binding != bindings_.end()) {
      entry.bound = true;
      entry.set = binding->second.first;
      entry.binding = binding->second.second;
    }
    rewriter_.result.sites.push_back(entry);
  }
  return site;
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
