// Paths of shader calls. The counters are private variables of the invocation: plain additions, no call and no memory
// of the device. A function for each shader records them: before it returns, before it ignores its candidate or ends
// its ray, and before it reports an intersection, because nothing behind an accepted report need run.
#include <array>

#include "capture/block_counts/edge_split.hpp"
#include "capture/instrument/passes/passes.hpp"
#include "capture/instrument/probes/record.h"

namespace rayreplay::instrument {

using block_counts::CounterSet;
using spirv::Node;
using spv::Op;

namespace {

constexpr std::uint32_t kByte = 255;
constexpr std::uint32_t kBytesOfWord = 4;

Id operation(Rewriter& r, std::vector<Instruction>& out, Op op, Id type, Id a, Id b) {
  const Id result = r.linker.fresh();
  out.emplace_back(op, std::initializer_list<Word>{type, result, a, b});
  return result;
}

void label(std::vector<Instruction>& out, Id id) {
  out.emplace_back(Op::OpLabel, std::initializer_list<Word>{id});
}

void branch(std::vector<Instruction>& out, Id target) {
  out.emplace_back(Op::OpBranch, std::initializer_list<Word>{target});
}

}  // namespace

Paths::Paths(Rewriter& rewriter, const Module& given) : rewriter_(rewriter), functions_(given.functions.size()) {
  const Analysis& analysis = rewriter.analysis;
  shaders_.resize(analysis.shaders.size());
  const spirv::WideSelectors selectors(given);
  const block_counts::InvocationEnds ends(given);
  std::vector<std::size_t> counters(shaders_.size(), 0);
  for (std::size_t f = 0; f < functions_.size(); ++f) {
    std::string reason;
    const std::vector<std::uint32_t>& shaders = analysis.reached_by[f];
    if (shaders.empty()) {
      continue;
    }
    const auto flow = spirv::control_flow(given.functions[f], selectors, reason);
    if (flow) {
      const block_counts::EdgeSplits splits(*flow);
      functions_[f].sites =
          block_counts::plan_counters(*flow, ends.blocks_of(given.functions[f], *flow), CounterSet::Minimal,
                                      [&](Node from, Node to) { return splits.can_count(from, to); })
              .sites;
    }
    for (const std::uint32_t s : shaders) {
      counters[s] += functions_[f].sites.size();
      if (!flow) {
        shaders_[s].left_out = reason;
      }
    }
  }
  for (std::size_t s = 0; s < shaders_.size(); ++s) {
    if (shaders_[s].left_out.empty() && counters[s] > RR_MAX_PATH_COUNTERS) {
      shaders_[s].left_out =
          std::to_string(counters[s]) + " counters are needed, more than " + std::to_string(RR_MAX_PATH_COUNTERS);
    }
    if (shaders_[s].left_out.empty()) {
      rewriter.result.paths.shaders.push_back(analysis.shaders[s].id);
      shaders_[s].recorder = rewriter.linker.fresh();
    } else {
      rewriter.note("no paths of entry point " + analysis.shaders[s].name + ": " + shaders_[s].left_out);
    }
  }
  std::uint32_t length = 0;
  for (std::size_t f = 0; f < functions_.size(); ++f) {
    PathFunction counted;
    counted.function = static_cast<std::uint32_t>(f);
    for (const std::uint32_t s : analysis.reached_by[f]) {
      if (shaders_[s].recorder != 0) {
        counted.shaders.push_back(analysis.shaders[s].id);
        for (std::uint32_t i = 0; i < functions_[f].sites.size(); ++i) {
          shaders_[s].counters.push_back(length + i);
        }
      }
    }
    if (counted.shaders.empty()) {
      functions_[f].sites.clear();
      continue;
    }
    functions_[f].first = length;
    length += static_cast<std::uint32_t>(functions_[f].sites.size());
    counted.sites = functions_[f].sites;
    rewriter.result.paths.functions.push_back(std::move(counted));
  }
  if (length != 0) {
    array_ = rewriter.private_of(rewriter.linker.type_array(rewriter.linker.type_uint(), length));
  }
}

Id Paths::counter(std::vector<Instruction>& out, std::uint32_t index) const {
  Rewriter& r = rewriter_;
  const Id type = r.linker.type_pointer(spv::StorageClass::Private, r.linker.type_uint());
  return operation(r, out, Op::OpAccessChain, type, array_, r.linker.constant(index));
}

void Paths::count(std::vector<Instruction>& out, std::size_t function, std::size_t site) const {
  Rewriter& r = rewriter_;
  const Id pointer = counter(out, functions_[function].first + static_cast<std::uint32_t>(site));
  const Id before = r.load(out, r.linker.type_uint(), pointer);
  r.store(out, pointer, operation(r, out, Op::OpIAdd, r.linker.type_uint(), before, r.linker.constant(1)));
}

void Paths::before(const Place& place, const Instruction& instruction) {
  const bool reports = instruction.is(Op::OpReportIntersectionKHR);
  if (!reports && !instruction.is(Op::OpIgnoreIntersectionKHR) && !instruction.is(Op::OpIgnoreIntersectionNV) &&
      !instruction.is(Op::OpTerminateRayKHR) && !instruction.is(Op::OpTerminateRayNV)) {
    return;
  }
  for (const std::uint32_t s : place.shaders) {
    shaders_[s].shared = shaders_[s].shared || place.shaders.size() > 1;
    end(place.out, s, reports);
  }
}

void Paths::begin(std::vector<Instruction>& out, std::uint32_t shader) const {
  for (const std::uint32_t index : shaders_[shader].counters) {
    rewriter_.store(out, counter(out, index), rewriter_.linker.constant(0));
  }
}

void Paths::end(std::vector<Instruction>& out, std::uint32_t shader, bool goes_on) const {
  if (shaders_[shader].recorder != 0) {
    const std::array<Id, 1> arguments = {rewriter_.linker.constant(goes_on ? 1 : 0)};
    (void)rewriter_.call(out, rewriter_.linker.type_void(), shaders_[shader].recorder, arguments);
  }
}

void Paths::finish() {
  for (std::uint32_t s = 0; s < shaders_.size(); ++s) {
    if (shaders_[s].recorder != 0) {
      rewriter_.linker.add_function(recorder(s));
    }
  }
}

Function Paths::recorder(std::uint32_t shader) const {
  Rewriter& r = rewriter_;
  const PerShader& own = shaders_[shader];
  Function function;
  std::vector<Instruction>& body = function.body;
  const std::array<Id, 1> parameters = {r.linker.type_uint()};
  const Id type = r.linker.type_function(r.linker.type_void(), parameters);
  body.emplace_back(Op::OpFunction, std::initializer_list<Word>{r.linker.type_void(), own.recorder, 0, type});
  const Id goes_on = r.linker.fresh();
  body.emplace_back(Op::OpFunctionParameter, std::initializer_list<Word>{parameters[0], goes_on});
  label(body, r.linker.fresh());
  if (own.shared) {
    // The call stands in code of several shaders, each with a function of its own.
    std::vector<std::uint32_t> all(shaders_.size());
    for (std::uint32_t s = 0; s < all.size(); ++s) {
      all[s] = s;
    }
    const Id mine = operation(r, body, Op::OpIEqual, r.linker.type_bool(), r.shader_id(body, all),
                              r.linker.constant(r.analysis.shaders[shader].id));
    const Id run = r.linker.fresh(), end = r.linker.fresh();
    body.emplace_back(Op::OpSelectionMerge, std::initializer_list<Word>{end, 0});
    body.emplace_back(Op::OpBranchConditional, std::initializer_list<Word>{mine, run, end});
    label(body, run);
    record(body, shader, goes_on);
    branch(body, end);
    label(body, end);
  } else {
    record(body, shader, goes_on);
  }
  body.emplace_back(Op::OpReturn, std::initializer_list<Word>{});
  body.emplace_back(Op::OpFunctionEnd, std::initializer_list<Word>{});
  return function;
}

void Paths::record(std::vector<Instruction>& body, std::uint32_t shader, Id goes_on) const {
  Rewriter& r = rewriter_;
  const Id type = r.linker.type_uint();
  std::vector<Id> counters;
  Id any = 0;  // all bits of all counters
  for (const std::uint32_t index : shaders_[shader].counters) {
    counters.push_back(r.load(body, type, counter(body, index)));
    any = any == 0 ? counters.back() : operation(r, body, Op::OpBitwiseOr, type, any, counters.back());
  }
  const auto words = static_cast<std::uint32_t>(counters.size());
  const std::uint32_t bytes = (words + kBytesOfWord - 1) / kBytesOfWord;
  const Id large = operation(r, body, Op::OpUGreaterThan, r.linker.type_bool(), any, r.linker.constant(kByte));
  const std::array<Id, 4> arguments = {goes_on, r.linker.constant(bytes), r.linker.constant(words), large};
  const std::array<std::uint32_t, 1> shaders = {shader};
  const Id chunk_type = r.linker.type_uvec(4);
  const Id chunk = r.probe(body, chunk_type, "rr_open_path", shaders, arguments);
  const Id what = r.linker.fresh();
  body.emplace_back(Op::OpCompositeExtract, std::initializer_list<Word>{type, what, chunk, 3});
  const Id write = r.event_function("rr_path_word");
  const auto put = [&](std::uint32_t k, Id word) {
    const std::array<Id, 3> values = {chunk, r.linker.constant(k), word};
    (void)r.call(body, r.linker.type_void(), write, values);
  };
  const Id narrow = r.linker.fresh(), wide = r.linker.fresh(), end = r.linker.fresh();
  body.emplace_back(Op::OpSelectionMerge, std::initializer_list<Word>{end, 0});
  body.emplace_back(Op::OpSwitch, std::initializer_list<Word>{what, end, 1, narrow, 2, wide});
  label(body, narrow);
  for (std::uint32_t k = 0; k < bytes; ++k) {
    Id word = counters[std::size_t{k} * kBytesOfWord];
    for (std::uint32_t b = 1; b < kBytesOfWord && k * kBytesOfWord + b < words; ++b) {
      const Id shifted =
          operation(r, body, Op::OpShiftLeftLogical, type, counters[k * kBytesOfWord + b], r.linker.constant(8 * b));
      word = operation(r, body, Op::OpBitwiseOr, type, word, shifted);
    }
    put(k, word);
  }
  branch(body, end);
  label(body, wide);
  for (std::uint32_t k = 0; k < words; ++k) {
    put(k, counters[k]);
  }
  branch(body, end);
  label(body, end);
}

}  // namespace rayreplay::instrument
