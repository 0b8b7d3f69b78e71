// Calls of the counting probes: at the start of a counted block, behind its phis and variables; at the end of a block
// whose only edge is counted; in a new block on any other counted edge. Compilers of shaders leave loop headers without
// calls, and drivers need not know others: the code of a counted header moves into a new block behind it, where the
// function stays structured.
#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include "capture/block_counts/edge_split.hpp"
#include "capture/instrument/passes/passes.hpp"
#include "capture/instrument/probe_libraries.hpp"

namespace rayreplay::instrument {

using block_counts::CounterSet;
using block_counts::CounterSite;
using spirv::kNoNode;
using spirv::Node;
using spv::Op;

namespace {

/// 64 MiB of counters with groups.
constexpr std::uint64_t kMaxCounters = std::uint64_t{1} << 22;
constexpr std::uint32_t kLanesBytes = 8;
constexpr std::uint32_t kBothBytes = 16;

void redirect(Instruction& branch, std::size_t literal_words, Id from, Id to) {
  const bool is_switch = branch.is(Op::OpSwitch);
  const std::size_t step = is_switch ? literal_words + 1 : 1;
  for (std::size_t i = 2; i < branch.size() && (is_switch || i < 4); i += step) {
    if (branch[i] == from) {
      branch.set(i, to);
    }
  }
}

}  // namespace

/// Changes to a function's blocks.
struct BlockCounters::Edits {
  static constexpr std::size_t kNone = ~std::size_t{0};
  struct Split {
    Node to = 0;
    Id label = 0;  ///< of the new block
    std::size_t site = 0;
  };
  struct OfBlock {
    std::size_t at_start = kNone, at_end = kNone;  ///< sites
    std::vector<Split> splits;                     ///< of edges from here
    Id code = 0;                                   ///< loop headers: the new block that their code moves to; 0: none
  };

  Edits(const spirv::ControlFlow& flow, const std::vector<CounterSite>& sites, Linker& linker)
      : blocks(flow.blocks.size()) {
    for (std::size_t s = 0; s < sites.size(); ++s) {
      const CounterSite& site = sites[s];
      if (site.from == kNoNode) {
        blocks[site.to].at_start = s;
      } else if (flow.graph.successors[site.from].size() == 1) {
        blocks[site.from].at_end = s;
      } else {
        const Id label = linker.fresh();
        blocks[site.from].splits.push_back({site.to, label, s});
        parents[{flow.blocks[site.to].label, flow.blocks[site.from].label}] = label;
      }
    }
    for (Node b = 0; b < blocks.size(); ++b) {
      OfBlock& edit = blocks[b];
      if ((edit.at_start == kNone && edit.at_end == kNone) || !edit.splits.empty() || !can_move(flow, b)) {
        continue;
      }
      edit.code = linker.fresh();
      for (const Node to : flow.graph.successors[b]) {
        parents[{flow.blocks[to].label, flow.blocks[b].label}] = edit.code;
      }
    }
  }
  /// A loop header that branches on, or out of its loop body: without its merge instruction its branch needs none.
  static bool can_move(const spirv::ControlFlow& flow, Node b) {
    const spirv::Block& block = flow.blocks[b];
    const auto leaves = [&](Node to) {
      return flow.blocks[to].label == block.merge || flow.blocks[to].label == block.continue_target;
    };
    const std::vector<Node>& next = flow.graph.successors[b];
    return block.continue_target != 0 &&
           (block.ending == spirv::Ending::Branch ||
            (block.ending == spirv::Ending::ConditionalBranch && std::any_of(next.begin(), next.end(), leaves)));
  }
  /// The block that a phi's value comes from now.
  void mend(Instruction& phi, Id block) const {
    for (std::size_t i = 4; i < phi.size() && !parents.empty(); i += 2) {
      if (const auto split = parents.find({block, phi[i]}); split != parents.end()) {
        phi.set(i, split->second);
      }
    }
  }

  std::vector<OfBlock> blocks;
  std::map<std::pair<Id, Id>, Id> parents;  ///< by block and its old predecessor
};

BlockCounters::BlockCounters(Rewriter& rewriter)
    : rewriter_(rewriter), selectors_(rewriter.module), ends_(rewriter.module) {
  CounterLayout& layout = rewriter.result.counters;
  layout.bytes = *rewriter.options.count_blocks == CounterSet::All ? kBothBytes : kLanesBytes;
  layout.copies = rewriter.options.sm ? rewriter.options.counter_copies : 1;
}

void BlockCounters::call(std::vector<Instruction>& out, const CountedFunction& counted, std::size_t site,
                         std::span<const std::uint32_t> shaders) {
  Rewriter& r = rewriter_;
  const bool both = *r.options.count_blocks == CounterSet::All;
  const Id function = r.linker.function(counts_library(), both ? "rr_count_both" : "rr_count_lanes");
  if (address_ == 0) {
    address_ = r.linker.own_constant(std::uint64_t{0});
  }
  const auto sites = static_cast<std::uint32_t>(counted.sites.size());
  const std::uint32_t of_first = counted.first + static_cast<std::uint32_t>(site);
  const Id type = r.linker.type_uint();
  const auto combine = [&](Op op, Id a, Id b) {
    const Id result = r.linker.fresh();
    out.emplace_back(op, std::initializer_list<Word>{type, result, a, b});
    return result;
  };
  Id index = r.linker.constant(of_first);
  if (shaders.size() > 1) {
    const Id shader = r.shader_id(out, shaders);
    index = combine(Op::OpIAdd, combine(Op::OpIMul, shader, r.linker.constant(sites)),
                    r.linker.constant(of_first - counted.shaders.front() * sites));
  }
  if (const std::uint32_t copies = r.result.counters.copies; copies > 1) {
    if (copy_size_ == 0) {
      copy_size_ = r.linker.own_constant(std::uint32_t{0});
    }
    const Id sm = r.builtin(out, spv::BuiltIn::SMIDNV, shaders);
    const Id copy = combine(Op::OpBitwiseAnd, sm, r.linker.constant(copies - 1));
    index = combine(Op::OpIAdd, combine(Op::OpIMul, copy, copy_size_), index);
  }
  const std::array<Id, 2> arguments = {address_, index};
  (void)r.call(out, r.linker.type_void(), function, arguments);
}

void BlockCounters::finish() {
  if (copy_size_ != 0) {
    rewriter_.linker.change(copy_size_, rewriter_.result.counters.counters);
  }
}

void BlockCounters::add(std::size_t function, std::span<const std::uint32_t> shaders) {
  Rewriter& r = rewriter_;
  Function& target = r.module.functions[function];
  std::string reason;
  const std::optional<spirv::ControlFlow> flow = spirv::control_flow(target, selectors_, reason);
  if (!flow) {
    r.note("blocks are not counted: " + reason);
    return;
  }
  const block_counts::EdgeSplits splits(*flow);
  block_counts::CounterPlan plan =
      block_counts::plan_counters(*flow, ends_.blocks_of(target, *flow), *r.options.count_blocks,
                                  [&](Node from, Node to) { return splits.can_count(from, to); });
  CounterLayout& layout = r.result.counters;
  CountedFunction counted;
  counted.function = static_cast<std::uint32_t>(function);
  counted.first = layout.counters;
  for (const std::uint32_t s : shaders) {
    counted.shaders.push_back(r.analysis.shaders[s].id);
  }
  counted.sites = std::move(plan.sites);
  const std::uint64_t slots = counted.shaders.back() - counted.shaders.front() + 1U;
  const std::uint64_t needed = layout.counters + slots * counted.sites.size();
  if (needed * layout.copies > kMaxCounters) {
    r.note("blocks of some functions are not counted: more than " + std::to_string(kMaxCounters) + " counters");
    return;
  }
  if (!plan.all_because.empty()) {
    r.note("every block of function " + std::to_string(target.id()) + " is counted: " + plan.all_because);
  }
  layout.counters = static_cast<std::uint32_t>(needed);

  const Edits edits(*flow, counted.sites, r.linker);
  std::vector<Instruction> body;
  std::size_t at = 0;
  for (Node b = 0; b < flow->blocks.size(); ++b) {
    const spirv::Block& block = flow->blocks[b];
    const Edits::OfBlock& edit = edits.blocks[b];
    std::size_t start = block.first;  // the last instruction before a counter
    std::size_t merge = block.last;   // the merge instruction, or the last
    for (std::size_t i = block.first; i <= block.last; ++i) {
      const Instruction& given = target.body[i];
      if (given.is(Op::OpPhi) || given.is(Op::OpVariable)) {
        start = i;
      } else if (given.is(Op::OpSelectionMerge) || given.is(Op::OpLoopMerge)) {
        merge = i;
      }
    }
    const std::size_t end = edit.code != 0 ? block.last : merge;
    for (; at <= block.last; ++at) {
      Instruction instruction = target.body[at];
      if (at == end && edit.at_end != Edits::kNone) {
        call(body, counted, edit.at_end, shaders);
      }
      if (instruction.is(Op::OpPhi)) {
        edits.mend(instruction, block.label);
      }
      if (at == block.last) {
        for (const Edits::Split& split : edit.splits) {
          redirect(instruction, selectors_.literal_words(instruction[1]), flow->blocks[split.to].label, split.label);
        }
      }
      if (edit.code == 0 || at != merge) {
        body.push_back(std::move(instruction));
      }
      if (at == start && edit.code != 0) {
        Instruction loop = target.body[merge];
        if (loop[2] == block.label) {
          loop.set(2, edit.code);  // a loop of one block: its code is what continues it
        }
        body.push_back(std::move(loop));
        body.emplace_back(Op::OpBranch, std::initializer_list<Word>{edit.code});
        body.emplace_back(Op::OpLabel, std::initializer_list<Word>{edit.code});
      }
      if (at == start && edit.at_start != Edits::kNone) {
        call(body, counted, edit.at_start, shaders);
      }
    }
    for (const Edits::Split& split : edit.splits) {
      body.emplace_back(Op::OpLabel, std::initializer_list<Word>{split.label});
      call(body, counted, split.site, shaders);
      body.emplace_back(Op::OpBranch, std::initializer_list<Word>{flow->blocks[split.to].label});
    }
  }
  for (; at < target.body.size(); ++at) {
    body.push_back(target.body[at]);
  }
  target.body = std::move(body);
  layout.functions.push_back(std::move(counted));
}

}  // namespace rayreplay::instrument
