#include "capture/spirv/facts.hpp"

#include <algorithm>
#include <map>

#include "capture/spirv/source_lines.hpp"

namespace rayreplay::spirv {

using spv::Op;

namespace {

void count(const Analysed& m, ShaderFacts& facts) {
  for (const std::uint32_t f : facts.functions) {
    const Function& function = m.module.functions[f];
    if (!m.flows[f]) {
      facts.notes.push_back("function " + function_name(m, f) + ": " + m.reasons[f]);
      continue;
    }
    const ControlFlow& flow = *m.flows[f];
    facts.irreducible = facts.irreducible || flow.loops.irreducible;
    facts.loops += flow.loops.all.size();
    for (const Loop& loop : flow.loops.all) {
      facts.loop_depth = std::max(facts.loop_depth, loop.depth);
    }
    for (Node b = 0; b < flow.blocks.size(); ++b) {
      const Block& block = flow.blocks[b];
      if (flow.reached(b)) {
        ++facts.blocks;
        for (std::size_t i = block.first; i <= block.last; ++i) {
          ++facts.instructions[static_cast<std::size_t>(m.classes.of(function.body[i]))];
        }
      } else if (block.last > block.first + 1 || block.ending != Ending::Unreachable) {
        facts.unreached_blocks.emplace_back(f, b);
      }
    }
  }
}

class FactsOfView {
 public:
  FactsOfView(const Analysed& module, const SourceLines& lines, const InlineView& view, ShaderFacts& facts)
      : m_(module), lines_(lines), view_(view), facts_(facts) {}

  void add_liveness(const Liveness& live, std::uint32_t most_instructions) {
    facts_.has_liveness = true;
    Recomputation recomputation(view_, m_, most_instructions);
    std::map<Place, CallFacts> calls;
    for (std::size_t c = 0; c < view_.calls.size(); ++c) {
      const ViewCall& call = view_.calls[c];
      const LiveState state = recomputation.state(live.calls[c]);
      std::uint64_t payload = 0;
      for (Slot s = call.payload; s < call.payload + call.payload_slots; ++s) {
        payload += view_.slots[s].bytes;
      }
      CallFacts& known = calls[view_.operations[call.operation].place];
      if (known.copies == 0) {
        known.kind = call.kind;
        known.at = place_of(view_.operations[call.operation].place, call.block);
      }
      ++known.copies;
      if (known.copies == 1 || state.bytes() > known.live.bytes()) {
        known.live = state;
      }
      known.payload_bytes = std::max(known.payload_bytes, payload);
    }
    for (const auto& [place, call] : calls) {
      facts_.calls.push_back(call);
    }
    std::map<std::pair<std::uint32_t, Node>, std::uint64_t> blocks;
    for (const Node b : view_.flow.order) {
      const ViewBlock& block = view_.blocks[b];
      // Parts of a block behind a call are not its start.
      if (block.starts) {
        std::uint64_t& most = blocks[{block.function, block.block}];
        most = std::max(most, live.live_in_bytes[b]);
      }
    }
    for (const auto& [at, bytes] : blocks) {
      facts_.live_in.push_back({at.first, at.second, bytes});
    }
  }

  void add_divergence(const Divergence& levels) {
    facts_.has_divergence = true;
    Uniformity uniformity = uniformity_of(m_, view_, levels);
    facts_.branches = std::move(uniformity.branches);
    facts_.loads = std::move(uniformity.loads);
    facts_.results = std::move(uniformity.results);
  }

 private:
  [[nodiscard]] SourcePlace place_of(Place place, Node block) const {
    const ViewBlock& in = view_.blocks[block];
    const SourceLines::Line line = lines_.at(place);
    return {place, function_name(m_, place.function), m_.flows[in.function]->blocks[in.block].label, lines_.file(line),
            line.number};
  }

  const Analysed& m_;
  const SourceLines& lines_;
  const InlineView& view_;
  ShaderFacts& facts_;
};

/// Adds what the inline view says; returns the steps that it took.
std::uint64_t add_view(const Analysed& m, const SourceLines& lines, ShaderFacts& facts,
                       std::uint32_t most_instructions) {
  std::string reason;
  const std::optional<InlineView> view = inline_view(m, facts.functions.front(), reason);
  if (!view) {
    facts.notes.push_back("no live state and no uniformity: " + reason);
    return kMostOperations;
  }
  for (const std::string& note : view->notes) {
    if (std::find(facts.notes.begin(), facts.notes.end(), note) == facts.notes.end()) {
      facts.notes.push_back(note);
    }
  }
  FactsOfView of(m, lines, *view, facts);
  const std::optional<Liveness> live = liveness(*view);
  const std::uint64_t recomputation = std::uint64_t{view->calls.size()} * view->operations.size();
  if (!live || recomputation > kMostLiveSteps) {
    facts.notes.push_back(std::string("no live state and no uniformity: ") + kTooMuchWork);
    return kMostLiveSteps;
  }
  of.add_liveness(*live, most_instructions);
  const std::uint64_t steps = view->operations.size() + recomputation + live->steps;
  if (const std::optional<Divergence> levels = divergence(*view, m, *live, reason)) {
    of.add_divergence(*levels);
    return steps + levels->steps;
  }
  facts.notes.push_back("no uniformity: " + reason);
  return steps + (reason == kTooMuchWork ? kMostDivergenceSteps : 0);
}

}  // namespace

std::string function_name(const Analysed& module, std::uint32_t function) {
  const Id id = module.module.functions[function].id();
  const std::string name = module.index.name(id);
  return name.empty() ? "%" + std::to_string(id) : name.substr(0, name.find('('));
}

ModuleFacts facts_of(const Analysed& m, std::uint32_t most_instructions) {
  ModuleFacts facts;
  const SourceLines lines(m);
  std::vector<bool> used(m.module.functions.size(), false);
  std::uint64_t work = 0;
  for (std::uint32_t e = 0; e < m.module.entry_points.size(); ++e) {
    const Instruction& entry = m.module.entry_points[e];
    ShaderFacts shader;
    shader.entry_point = e;
    shader.model = entry[1];
    shader.entry = entry.string(3);
    const auto function = m.calls.function_of.find(entry[2]);
    if (function == m.calls.function_of.end()) {
      shader.notes.emplace_back("the entry point names no function of the module");
    } else if (work > kMostModuleWork) {
      shader.notes.emplace_back("not analysed: earlier entry points of the module used up the limit of steps");
    } else {
      const Reached reached = reached_from(m.calls, function->second);
      shader.functions = reached.functions;
      shader.recursion = reached.recursion;
      for (const std::uint32_t f : reached.functions) {
        used[f] = true;
        work += m.module.functions[f].body.size();
      }
      count(m, shader);
      work += add_view(m, lines, shader, most_instructions) + m.module.functions.size();
    }
    facts.shaders.push_back(std::move(shader));
  }
  for (std::uint32_t f = 0; f < used.size(); ++f) {
    if (!used[f]) {
      facts.unused_functions.push_back(f);
    }
  }
  return facts;
}

}  // namespace rayreplay::spirv
