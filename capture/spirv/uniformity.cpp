#include "capture/spirv/uniformity.hpp"

#include <algorithm>
#include <map>

namespace rayreplay::spirv {

using spv::Op;

Uniformity uniformity_of(const Analysed& module, const InlineView& view, const Divergence& levels) {
  std::map<Place, UniformityFacts> branches, loads, results;
  const auto note = [](std::map<Place, UniformityFacts>& list, Place place, Level level, Level address) {
    UniformityFacts& known = list[place];
    known.place = place;
    known.level = std::max(known.level, level);
    known.address = std::max(known.address, address);
  };
  for (const Node b : view.flow.order) {
    for (std::uint32_t o = view.blocks[b].first; o < view.blocks[b].end; ++o) {
      const Operation& operation = view.operations[o];
      const Instruction& i = module.module.functions[operation.place.function].body[operation.place.instruction];
      if (operation.result != kNoValue) {
        note(results, operation.place, levels.results[o], levels.addresses[o]);
      }
      if ((i.is(Op::OpBranchConditional) || i.is(Op::OpSwitch)) && view.flow.graph.successors[b].size() > 1) {
        note(branches, operation.place, levels.decisions[b], Level::Launch);
      } else if (module.classes.of(i) == InstructionClass::Load) {
        note(loads, operation.place, levels.results[o], levels.addresses[o]);
      }
    }
  }
  Uniformity result;
  const auto take = [](const std::map<Place, UniformityFacts>& from, std::vector<UniformityFacts>& to) {
    for (const auto& [place, facts] : from) {
      to.push_back(facts);
    }
  };
  take(branches, result.branches);
  take(loads, result.loads);
  take(results, result.results);
  return result;
}

std::optional<Uniformity> uniformity(const Analysed& module, std::uint32_t function, std::string& reason) {
  const std::optional<InlineView> view = inline_view(module, function, reason);
  if (!view) {
    return std::nullopt;
  }
  const std::optional<Liveness> live = liveness(*view);
  if (!live) {
    reason = kTooMuchWork;
    return std::nullopt;
  }
  const std::optional<Divergence> levels = divergence(*view, module, *live, reason);
  if (!levels) {
    return std::nullopt;
  }
  Uniformity result = uniformity_of(module, *view, *levels);
  result.steps = view->operations.size() + live->steps + levels->steps;
  return result;
}

}  // namespace rayreplay::spirv
