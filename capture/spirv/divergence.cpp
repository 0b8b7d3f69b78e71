#include "capture/spirv/divergence.hpp"

#include <algorithm>

#include "capture/spirv/divergence_sources.hpp"
#include "capture/spirv/divergent_joins.hpp"

namespace rayreplay::spirv {
namespace {

constexpr std::uint64_t kMostStates = std::uint64_t{1} << 27;  ///< blocks times slots
constexpr std::uint32_t kMostLoopDepth = 256;

class Solver {
 public:
  Solver(const InlineView& view, const Analysed& module, const Liveness& live)
      : view_(view),
        joins_(view.flow),
        rules_(view.operations.size()),
        crosses_(view.values.size(), false),
        writes_(view.slots.size(), 0),
        written_(view.blocks.size()),
        at_start_(view.blocks.size(), std::vector<Level>(view.slots.size(), Level::Launch)),
        is_join_(view.blocks.size(), false),
        mixed_(view.blocks.size()),
        separates_(view.blocks.size(), false),
        left_apart_(view.flow.loops.all.size(), false),
        call_at_(view.operations.size(), false) {
    for (std::size_t o = 0; o < view.operations.size(); ++o) {
      const Place place = view.operations[o].place;
      rules_[o] =
          result_rule(view.operations[o], module.module.functions[place.function].body[place.instruction], module);
    }
    for (const LiveSet& set : live.calls) {
      for (const Value v : set.values) {
        crosses_[v] = true;
      }
    }
    for (const ViewCall& call : view.calls) {
      call_at_[call.operation] = true;
    }
    for (Slot s = 0; s < view.slots.size(); ++s) {
      writes_[s] = view.slots[s].set_at_entry && view.slots[s].storage != spv::StorageClass::Function ? 1 : 0;
    }
    for (const Node b : view.flow.order) {
      for (std::uint32_t o = view.blocks[b].first; o < view.blocks[b].end; ++o) {
        for (std::uint32_t a = view.operations[o].accesses; a < view.operations[o].accesses_end; ++a) {
          if (const Access& access = view.accesses[a]; writes(access.kind)) {
            written_[b].push_back(access);
            for (Slot s = access.first; s < access.first + access.count; ++s) {
              ++writes_[s];
            }
          }
        }
      }
    }
    result_.values.assign(view.values.size(), Level::Launch);
    result_.decisions.assign(view.blocks.size(), Level::Launch);
    result_.addresses.assign(view.operations.size(), Level::Launch);
    result_.results.assign(view.operations.size(), Level::Launch);
    for (Value v = 0; v < view.values.size(); ++v) {
      if (view.values[v].operation == kNoValue) {
        result_.values[v] = Level::Divergent;  // nothing is known of it
      }
    }
  }

  /// Empty, or why there is no result.
  std::string run() {
    std::vector<Level>& entry = at_start_[0];
    for (Slot s = 0; s < view_.slots.size(); ++s) {
      const auto storage = view_.slots[s].storage;
      if (storage == spv::StorageClass::IncomingRayPayloadKHR ||
          storage == spv::StorageClass::IncomingCallableDataKHR) {
        entry[s] = Level::Divergent;
      }
    }
    do {
      changed_ = false;
      for (const Node block : view_.flow.order) {
        visit(block);
      }
      steps_ += view_.operations.size() + view_.uses.size() + view_.flow.order.size() * view_.slots.size();
      for (const Node block : view_.flow.order) {
        if (result_.decisions[block] == Level::Divergent && !separates_[block]) {
          separates_[block] = true;
          separate(block);
        }
        if (steps_ > kMostDivergenceSteps) {
          return kTooMuchWork;
        }
        if (meets_in_other_round_) {
          return "threads that part may meet again in another round of an outer loop";
        }
      }
    } while (changed_);
    return {};
  }

  Divergence take() {
    result_.steps = steps_;
    return std::move(result_);
  }

 private:
  static bool writes(AccessKind kind) {
    return kind == AccessKind::Write || kind == AccessKind::MayWrite;
  }

  void raise(Level& level, Level to) {
    if (to > level) {
      level = to;
      changed_ = true;
    }
  }

  /// A value's level where a block uses it: values of a loop that threads leave at different times are of different
  /// iterations outside.
  [[nodiscard]] Level at(Value value, Node block) const {
    if (value == kNoValue) {
      return Level::Launch;
    }
    const Level level = result_.values[value];
    if (level != Level::Group) {
      return level;
    }
    const Node defined = view_.values[value].block;
    for (std::uint32_t l = view_.flow.loops.innermost[defined]; l != kNoNode && !view_.flow.loops.holds(l, block);
         l = view_.flow.loops.all[l].parent) {
      if (left_apart_[l]) {
        return Level::Divergent;
      }
    }
    return level;
  }

  [[nodiscard]] Level highest(std::uint32_t from, std::uint32_t end, Node block) const {
    Level level = Level::Launch;
    for (std::uint32_t u = from; u < end && level != Level::Divergent; ++u) {
      level = std::max(level, at(view_.uses[u], block));
    }
    return level;
  }

  void visit(Node block) {
    std::vector<Level> slots = at_start_[block];
    if (is_join_[block] && !mixed_[block].empty()) {
      for (Slot s = 0; s < slots.size(); ++s) {
        // A slot of level Launch has the same value wherever it has one.
        if (mixed_[block][s] && slots[s] != Level::Launch) {
          slots[s] = Level::Divergent;
        }
      }
    }
    for (std::uint32_t o = view_.blocks[block].first; o < view_.blocks[block].end; ++o) {
      visit(o, block, slots);
    }
    decide(block);
    for (const Node to : view_.flow.graph.successors[block]) {
      std::vector<Level>& there = at_start_[to];
      for (Slot s = 0; s < slots.size(); ++s) {
        raise(there[s], slots[s]);
      }
    }
  }

  void visit(std::uint32_t o, Node block, std::vector<Level>& slots) {
    const Operation& operation = view_.operations[o];
    const Level operands = highest(operation.uses, operation.uses_end, block);
    // Each thread has a shader record of its own.
    const Level address = operation.storage == static_cast<Word>(spv::StorageClass::ShaderRecordBufferKHR)
                              ? Level::Divergent
                              : highest(operation.address, operation.uses_end, block);
    raise(result_.addresses[o], address);
    Level level = rules_[o].operands ? std::max(rules_[o].least, operands) : rules_[o].least;
    for (std::uint32_t a = operation.accesses; a < operation.accesses_end && rules_[o].operands; ++a) {
      const Access& access = view_.accesses[a];
      for (Slot s = access.first; access.kind == AccessKind::Read && s < access.first + access.count; ++s) {
        level = std::max(level, slots[s]);
      }
    }
    if (operation.joins) {
      level = std::max(level, join_level(operation, block));
    }
    raise(result_.results[o], level);
    if (operation.result != kNoValue) {
      if (level == Level::Group && crosses_[operation.result]) {
        level = Level::Divergent;
      }
      raise(result_.values[operation.result], level);
    }
    if (call_at_[o]) {
      std::replace(slots.begin(), slots.end(), Level::Group, Level::Divergent);
    }
    for (std::uint32_t a = operation.accesses; a < operation.accesses_end; ++a) {
      write(view_.accesses[a], o, operands, address, slots);
    }
  }

  void write(const Access& access, std::uint32_t o, Level operands, Level address, std::vector<Level>& slots) const {
    // Stores and initialisers write their operand; all else writes what only it knows.
    const bool stores = view_.operations[o].stores;
    for (Slot s = access.first; s < access.first + access.count; ++s) {
      if (access.kind == AccessKind::Forget) {
        slots[s] = Level::Launch;
      } else if (access.kind == AccessKind::Write) {
        slots[s] = stores ? std::max(operands, writes_[s] > 1 ? Level::Group : Level::Launch) : Level::Divergent;
      } else if (access.kind == AccessKind::MayWrite) {
        const Level at_all =
            stores && address != Level::Divergent ? std::max(operands, Level::Group) : Level::Divergent;
        slots[s] = std::max(slots[s], at_all);
      }
    }
  }

  /// Of a join's own place: different sources meet.
  [[nodiscard]] Level join_level(const Operation& operation, Node block) const {
    bool one_source = !operation.constant_source;
    for (std::uint32_t u = operation.uses + 1; u < operation.uses_end; ++u) {
      one_source = one_source && view_.uses[u] == view_.uses[operation.uses];
    }
    // An entry block with predecessors, which SPIR-V forbids, has a value of the last time round.
    if (one_source && block != 0) {
      return Level::Launch;
    }
    return is_join_[block] ? Level::Divergent : Level::Group;
  }

  void decide(Node block) {
    const ViewBlock& of = view_.blocks[block];
    if (of.first == of.end || view_.flow.graph.successors[block].size() < 2) {
      return;
    }
    const Operation& last = view_.operations[of.end - 1];
    raise(result_.decisions[block], highest(last.uses, last.uses_end, block));
  }

  /// The branch separates threads: where they meet, and which slots differ there.
  void separate(Node branch) {
    changed_ = true;
    const DivergentJoins found = joins_.of(branch);
    steps_ += view_.blocks.size();
    if (const Node meet = view_.flow.post_dominator[branch]; meet != kNoNode) {
      const std::vector<bool> before = reach(view_.flow.graph, view_.flow.graph.successors[branch], meet);
      for (std::uint32_t l = view_.flow.loops.innermost[branch]; l != kNoNode; l = view_.flow.loops.all[l].parent) {
        meets_in_other_round_ =
            meets_in_other_round_ || (view_.flow.loops.holds(l, meet) && before[view_.flow.loops.all[l].header]);
      }
      is_join_[meet] = true;
      mix_between(branch, meet);
    }
    for (const Node join : found.joins) {
      is_join_[join] = true;
      mix_between(branch, join);
    }
    for (const std::uint32_t loop : found.loops) {
      if (left_apart_[loop]) {
        continue;
      }
      left_apart_[loop] = true;
      for (const Node exit : joins_.exits(loop)) {
        is_join_[exit] = true;
        for (const Node block : view_.flow.order) {
          ++steps_;
          if (view_.flow.loops.holds(loop, block)) {
            mix(exit, block);
          }
        }
      }
    }
  }

  /// Slots that a block writes differ at a join.
  void mix(Node join, Node block) {
    if (written_[block].empty()) {
      return;
    }
    mixed_[join].resize(view_.slots.size(), false);
    for (const Access& access : written_[block]) {
      std::fill_n(mixed_[join].begin() + access.first, access.count, true);
      steps_ += access.count;
    }
  }

  std::vector<bool> reach(const Graph& graph, const std::vector<Node>& from, Node without) {
    std::vector<bool> seen(graph.size(), false);
    std::vector<Node> open;
    const auto add = [&](const std::vector<Node>& nodes) {
      for (const Node node : nodes) {
        ++steps_;
        if (node != without && !seen[node]) {
          seen[node] = true;
          open.push_back(node);
        }
      }
    };
    add(from);
    while (!open.empty()) {
      const Node node = open.back();
      open.pop_back();
      add(graph.successors[node]);
    }
    return seen;
  }

  void mix_between(Node branch, Node join) {
    const std::vector<bool> behind = reach(view_.flow.graph, view_.flow.graph.successors[branch], join);
    if (backwards_.size() == 0) {
      backwards_ = reversed(view_.flow.graph);
    }
    const std::vector<bool> before = reach(backwards_, backwards_.successors[join], branch);
    for (const Node block : view_.flow.order) {
      if (behind[block] && before[block]) {
        mix(join, block);
      }
    }
    steps_ += view_.blocks.size();
  }

  const InlineView& view_;
  JoinFinder joins_;
  std::vector<ResultRule> rules_;             ///< by operation
  std::vector<bool> crosses_;                 ///< by value: live behind a call
  std::vector<std::uint32_t> writes_;         ///< by slot: operations that write it
  std::vector<std::vector<Access>> written_;  ///< by block
  std::vector<std::vector<Level>> at_start_;  ///< by block, then slot
  std::vector<bool> is_join_;                 ///< by block: of threads that a branch separated
  std::vector<std::vector<bool>> mixed_;      ///< by block, then slot: written between such a branch and here
  std::vector<bool> separates_;               ///< by block: its branch
  std::vector<bool> left_apart_;              ///< by loop: threads leave it at different times
  std::vector<bool> call_at_;                 ///< by operation
  Graph backwards_;
  bool changed_ = false;
  bool meets_in_other_round_ = false;  ///< an inner loop's threads, behind the start of a loop around it
  std::uint64_t steps_ = 0;
  Divergence result_;
};

}  // namespace

std::optional<Divergence> divergence(const InlineView& view, const Analysed& module, const Liveness& live,
                                     std::string& reason) {
  if (view.flow.loops.irreducible) {
    reason = "irreducible control flow";
    return std::nullopt;
  }
  for (const Loop& loop : view.flow.loops.all) {
    if (loop.depth > kMostLoopDepth) {
      reason = "loops nested more than " + std::to_string(kMostLoopDepth) + " deep";
      return std::nullopt;
    }
  }
  if (std::uint64_t{view.blocks.size()} * view.slots.size() > kMostStates) {
    reason = "blocks times parts of variables are more than " + std::to_string(kMostStates);
    return std::nullopt;
  }
  Solver solver(view, module, live);
  reason = solver.run();
  if (!reason.empty()) {
    return std::nullopt;
  }
  return solver.take();
}

}  // namespace rayreplay::spirv
