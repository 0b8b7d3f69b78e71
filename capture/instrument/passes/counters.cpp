// Calls of the counting probes: at the start of a counted block, behind its phis and variables; at the end of a block
// whose only edge is counted; in a new block on any other counted edge; before a counted branch and behind a counted
// load. Compilers of shaders leave loop headers without calls, and drivers need not know others: the code of a counted
// header moves into a new block behind it, where the function stays structured.
#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include "capture/block_counts/edge_split.hpp"
#include "capture/block_counts/group_sources.hpp"
#include "capture/instrument/passes/passes.hpp"
#include "capture/instrument/probe_libraries.hpp"
#include "capture/spirv/instruction_class.hpp"

namespace rayreplay::instrument {

using block_counts::CounterSet;
using spirv::kNoNode;
using spirv::Node;
using spv::Op;

namespace {

/// Place of `helper` among the arguments of the probes that count.
constexpr std::size_t kHelperArgument = 2;

/// 64 MiB of u64.
constexpr std::uint64_t kMaxCells = std::uint64_t{1} << 23;

bool copies_memory(const Rewriter& rewriter, const Instruction& i) {
  // Only where a load of the source would be counted.
  return (i.is(Op::OpCopyMemory) || i.is(Op::OpCopyMemorySized)) &&
         is_counted_load(rewriter, Instruction(Op::OpLoad, {0, 0, i[2]}));
}

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
struct Counters::Edits {
  static constexpr std::size_t kNone = ~std::size_t{0};
  struct Split {
    Node to = 0;
    Id label = 0;  ///< of the new block
    std::size_t site = kNone, path = kNone;
  };
  struct OfBlock {
    std::size_t at_start = kNone, at_end = kNone;            ///< sites
    std::size_t branch = kNone;                              ///< site
    std::size_t path_at_start = kNone, path_at_end = kNone;  ///< sites of paths
    bool loads = false;                                      ///< with a counter
    std::vector<Split> splits;                               ///< of edges from here
    Id code = 0;  ///< loop headers: the new block that their code moves to; 0: none
  };

  /// `instructions`: by site, its place in the body, unless it is a block. `paths`: sites of paths.
  Edits(const spirv::ControlFlow& flow, const std::vector<CounterSite>& sites,
        const std::vector<std::size_t>& instructions, std::span<const block_counts::CounterSite> paths, Linker& linker)
      : blocks(flow.blocks.size()) {
    for (std::size_t s = 0; s < sites.size(); ++s) {
      const block_counts::CounterSite& place = sites[s].place;
      if (sites[s].kind != SiteKind::Block) {
        if (sites[s].cells != 0 && sites[s].kind == SiteKind::Branch) {
          blocks[place.to].branch = s;
        } else if ((sites[s].cells != 0 || sites[s].slots != 0) &&
                   sites[s].component == 0) {  // it counts all components
          blocks[place.to].loads = true;
          loads.emplace(instructions[s], s);
        }
      } else if (place.from == kNoNode) {
        blocks[place.to].at_start = s;
      } else if (flow.graph.successors[place.from].size() == 1) {
        blocks[place.from].at_end = s;
      } else {
        split(flow, place, linker).site = s;
      }
    }
    for (std::size_t p = 0; p < paths.size(); ++p) {
      const block_counts::CounterSite& place = paths[p];
      if (place.from == kNoNode) {
        blocks[place.to].path_at_start = p;
      } else if (flow.graph.successors[place.from].size() == 1) {
        blocks[place.from].path_at_end = p;
      } else {
        split(flow, place, linker).path = p;
      }
    }
    for (Node b = 0; b < blocks.size(); ++b) {
      OfBlock& edit = blocks[b];
      const bool has_calls = edit.at_start != kNone || edit.at_end != kNone || edit.branch != kNone || edit.loads;
      if (!has_calls || !edit.splits.empty() || !can_move(flow, b)) {
        continue;
      }
      edit.code = linker.fresh();
      for (const Node to : flow.graph.successors[b]) {
        parents[{flow.blocks[to].label, flow.blocks[b].label}] = edit.code;
      }
    }
  }
  /// The new block on an edge.
  Split& split(const spirv::ControlFlow& flow, const block_counts::CounterSite& edge, Linker& linker) {
    std::vector<Split>& splits = blocks[edge.from].splits;
    const auto known = std::find_if(splits.begin(), splits.end(), [&](const Split& s) { return s.to == edge.to; });
    if (known != splits.end()) {
      return *known;
    }
    const Id label = linker.fresh();
    parents[{flow.blocks[edge.to].label, flow.blocks[edge.from].label}] = label;
    return splits.emplace_back(Split{edge.to, label});
  }
  /// Whether the code of a loop header can move: its branch has one target, or leaves the loop body, and so needs no
  /// merge instruction of its own.
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
  /// Replaces the blocks that a phi names by those that its values come from now.
  void mend(Instruction& phi, Id block) const {
    for (std::size_t i = 4; i < phi.size() && !parents.empty(); i += 2) {
      if (const auto split = parents.find({block, phi[i]}); split != parents.end()) {
        phi.set(i, split->second);
      }
    }
  }

  std::vector<OfBlock> blocks;
  std::multimap<std::size_t, std::size_t> loads;  ///< by instruction in the body: sites
  std::map<std::pair<Id, Id>, Id> parents;        ///< by block and its old predecessor
};

Counters::Counters(Rewriter& rewriter, const Module& given, const Paths* paths)
    : rewriter_(rewriter), given_(given), paths_(paths), selectors_(rewriter.module), ends_(rewriter.module) {
  const Options& options = rewriter.options;
  rewriter.result.counters.copies = options.sm ? options.counter_copies : 1;
  if (options.trust_analysis && (options.count_branches || options.count_loads)) {
    levels_.emplace(given, rewriter.analysis);
  }
}

/// The index of a cell of a function, for the shader that runs; `copied`: in its SM's copy.
Id Counters::cell(std::vector<Instruction>& out, const CountedFunction& counted, std::uint32_t cell, bool copied,
                  std::span<const std::uint32_t> shaders) {
  Rewriter& r = rewriter_;
  const std::uint32_t of_first = counted.first + cell;
  const Id type = r.linker.type_uint();
  const auto combine = [&](Op op, Id a, Id b) {
    const Id result = r.linker.fresh();
    out.emplace_back(op, std::initializer_list<Word>{type, result, a, b});
    return result;
  };
  Id index = r.linker.constant(of_first);
  if (shaders.size() > 1) {
    const Id shader = r.shader_id(out, shaders);
    index = combine(Op::OpIAdd, combine(Op::OpIMul, shader, r.linker.constant(counted.cells)),
                    r.linker.constant(of_first - counted.shaders.front() * counted.cells));
  }
  const std::uint32_t copies = r.result.counters.copies;
  // A value must have one place to be found again, so its table has one copy. Fragments have one, too: the SM's number
  // would be an integer input, which must be flat in fragment shaders, and in no other shader of the module.
  const bool fragment = r.analysis.shaders[shaders[0]].stage == Stage::Fragment;
  if (copies > 1 && copied && !fragment) {
    if (copy_size_ == 0) {
      copy_size_ = r.linker.own_constant(std::uint32_t{0});
    }
    const Id sm = r.builtin(out, spv::BuiltIn::SMIDNV, shaders);
    const Id copy = combine(Op::OpBitwiseAnd, sm, r.linker.constant(copies - 1));
    index = combine(Op::OpIAdd, combine(Op::OpIMul, copy, copy_size_), index);
  }
  return index;
}

/// Id of a boolean: whether the running invocation is a helper; 0 for stages without helpers.
Id Counters::helper(std::vector<Instruction>& out, std::span<const std::uint32_t> shaders) {
  Rewriter& r = rewriter_;
  if (r.analysis.shaders[shaders[0]].stage != Stage::Fragment) {
    return 0;
  }
  if (!r.module.has(spv::Capability::DemoteToHelperInvocation)) {
    return r.builtin(out, spv::BuiltIn::HelperInvocation, shaders);
  }
  // The built-in variable keeps its first value when an invocation is demoted.
  const Id result = r.linker.fresh();
  out.emplace_back(Op::OpIsHelperInvocationEXT, std::initializer_list<Word>{r.linker.type_bool(), result});
  return result;
}

/// Calls a probe that counts or, where there are helpers, its form for fragments (rr_…_real).
Id Counters::call(std::vector<Instruction>& out, Id type, const std::string& probe, Id helper,
                  std::vector<Id> arguments, std::size_t helper_at) {
  if (helper != 0) {
    arguments.insert(arguments.begin() + static_cast<std::ptrdiff_t>(helper_at), helper);
  }
  return rewriter_.call(out, type,
                        rewriter_.linker.function(counts_library(rewriter_.options.ballot_extension),
                                                  helper != 0 ? probe + "_real" : probe),
                        arguments);
}

/// `instruction`: the counted branch or load.
void Counters::count(std::vector<Instruction>& out, const CountedFunction& counted, const CounterSite& site,
                     std::span<const std::uint32_t> shaders, const Instruction& instruction) {
  Rewriter& r = rewriter_;
  if (address_ == 0) {
    address_ = r.linker.own_constant(std::uint64_t{0});
  }
  const Id is_helper = helper(out, shaders);
  const Id nothing = r.linker.type_void();
  if (site.kind == SiteKind::Value) {
    if (table_mark_ == 0) {
      table_mark_ = r.linker.own_constant(kTableMark);
    }
    std::string why;
    const std::uint32_t components = value_components(r, instruction.result_type(), why);
    const Id words = value_words(r, out, instruction.result(), components);
    if (site.cells != 0) {
      const Id both = cell(out, counted, site.cell, true, shaders);
      (void)call(out, nothing, "rr_count_both", is_helper, {address_, both}, kHelperArgument);
    }
    const Id at = cell(out, counted, site.cell + table_of(site), false, shaders);
    (void)call(out, nothing, "rr_count_values", is_helper,
               {address_, at, r.linker.constant(site.slots), table_mark_, r.linker.constant(components), words},
               kHelperArgument);
    return;
  }
  std::vector<std::vector<Id>> compared;
  if ((site.cells & kUniform) != 0) {
    compared.push_back({site.kind == SiteKind::Branch ? instruction[1] : instruction.result()});
  }
  if ((site.cells & kUniformAddress) != 0) {
    std::string why;
    compared.push_back(*address_of(r, *definitions_, instruction, why));
  }
  std::vector<Id> same;
  if (!compared.empty()) {
    const Id leader = call(out, r.linker.type_uint(), "rr_leader", is_helper, {}, 0);
    for (const std::vector<Id>& values : compared) {
      same.push_back(compare(r, out, leader, values));
    }
  }
  const bool executions = (site.cells & (kLanes | kGroups)) != 0;
  const char* probe = same.size() == 2                   ? (executions ? "rr_count_same_both" : "rr_count_agreed_both")
                      : same.size() == 1                 ? (executions ? "rr_count_same" : "rr_count_agreed")
                      : site.cells == (kLanes | kGroups) ? "rr_count_both"
                      : (site.cells & kGroups) != 0      ? "rr_count_groups"
                                                         : "rr_count_lanes";
  std::vector<Id> arguments = {address_, cell(out, counted, site.cell, true, shaders)};
  arguments.insert(arguments.end(), same.begin(), same.end());
  (void)call(out, nothing, probe, is_helper, std::move(arguments), kHelperArgument);
}

void Counters::finish() {
  for (const auto& [what, loads] : without_values_) {
    rewriter_.note("values are not counted of " + std::to_string(loads) + (loads == 1 ? " load: " : " loads: ") + what);
  }
  if (copy_size_ != 0) {
    rewriter_.linker.change(copy_size_, rewriter_.result.counters.cells);
  }
}

void Counters::add_blocks(std::uint32_t index, const spirv::ControlFlow& flow, CountedFunction& counted) {
  // Blocks are those of the given function: what other passes added between them changes no group.
  const spirv::Function& function = given_.functions[index];
  std::string reason;
  const spirv::ControlFlow given = *spirv::control_flow(function, selectors_, reason);
  const CounterSet set = *rewriter_.options.count_blocks;
  const block_counts::EdgeSplits splits(flow);
  const block_counts::CounterPlan plan =
      block_counts::plan_counters(flow, ends_.blocks_of(rewriter_.module.functions[index], flow), set,
                                  [&](Node from, Node to) { return splits.can_count(from, to); });
  if (!plan.all_because.empty()) {
    rewriter_.note("every block of function " + std::to_string(function.id()) + " is counted: " + plan.all_because);
  }
  std::map<std::pair<Node, Node>, std::uint8_t> cells;  // by block and where its edge comes from
  const std::vector<Node> sources = block_counts::group_sources(function, given);
  for (const block_counts::CounterSite& place : plan.sites) {
    // A source runs with the lanes of its blocks, so one call counts both.
    const Node block = set == CounterSet::Sparse ? sources[place.to] : place.to;
    cells[{block, place.from}] = set == CounterSet::All ? kLanes | kGroups : kLanes;
  }
  for (Node block = 0; block < flow.blocks.size() && set == CounterSet::Sparse; ++block) {
    if (flow.reached(block) && sources[block] == block) {
      cells[{block, kNoNode}] |= kGroups;
    }
  }
  for (const auto& [place, numbers] : cells) {
    CounterSite& site = counted.sites.emplace_back();
    site.place = {place.second, place.first};
    site.cells = numbers;
  }
}

CounterSite Counters::branch_site(spirv::Place place) const {
  CounterSite site;
  site.kind = SiteKind::Branch;
  site.instruction = place.instruction;
  if (levels_ && levels_->value(place)) {
    site.always = kUniform;
  } else {
    site.cells |= kUniform;
  }
  return site;
}

CounterSite Counters::load_site(spirv::Place place, const Instruction& load) {
  CounterSite site;
  site.kind = SiteKind::Load;
  site.instruction = place.instruction;
  if (levels_ && levels_->value(place)) {
    site.always |= kUniform;
  } else if (is_comparable(rewriter_, load.result_type())) {
    site.cells |= kUniform;
  } else {
    rewriter_.note("values of some loads are not compared: their type has no words, or more than " +
                   std::to_string(kMostComparedWords));
  }
  std::string why;
  const auto address = address_of(rewriter_, *definitions_, load, why);
  if ((levels_ && levels_->address(place)) || (address && address->empty())) {
    site.always |= kUniformAddress;
  } else if (address) {
    site.cells |= kUniformAddress;
  } else {
    rewriter_.note("addresses of some loads are not compared: " + why);
  }
  return site;
}

/// Adds a site for each component of a loaded value.
void Counters::add_values(spirv::Place place, Node block, const Instruction& load, CountedFunction& counted) {
  std::string why;
  const std::uint32_t components = value_components(rewriter_, load.result_type(), why);
  if (components == 0) {
    ++without_values_[why];
  }
  for (std::uint32_t c = 0; c < components; ++c) {
    CounterSite& site = counted.sites.emplace_back();
    site.kind = SiteKind::Value;
    site.place.to = block;
    site.instruction = place.instruction;
    site.component = static_cast<std::uint8_t>(c);
    site.slots = static_cast<std::uint16_t>(std::min(rewriter_.options.value_slots, kMostValueSlots));
  }
}

/// Adds the sites of branches and loads. Returns the place in the body of each site; 0 for blocks.
std::vector<std::size_t> Counters::add_instructions(std::uint32_t index, const spirv::ControlFlow& flow,
                                                    std::span<const std::uint32_t> origins, CountedFunction& counted) {
  const spirv::Function& function = rewriter_.module.functions[index];
  const spirv::Function& given = given_.functions[index];
  const Options& options = rewriter_.options;
  const bool in_blocks = options.count_blocks == CounterSet::All || options.count_blocks == CounterSet::Sparse;
  std::vector<std::size_t> instructions(counted.sites.size(), 0);
  for (Node b = 0; b < flow.blocks.size(); ++b) {
    if (!flow.reached(b)) {
      continue;
    }
    bool counted_here = in_blocks;  // a site before, or the block, has the lanes and groups that run
    for (std::size_t at = flow.blocks[b].first; at <= flow.blocks[b].last; ++at) {
      const Instruction& i = function.body[at];
      const Instruction& origin = given.body[origins[at]];
      if (i.op() != origin.op() || i.result() != origin.result()) {
        continue;  // added
      }
      const spirv::Place place{index, origins[at]};
      std::optional<CounterSite> site;
      const bool branches = i.is(Op::OpBranchConditional) || i.is(Op::OpSwitch);
      if (options.count_branches && branches && flow.graph.successors[b].size() > 1) {
        site = branch_site(place);
      } else if (options.count_loads && is_counted_load(rewriter_, i)) {
        site = load_site(place, i);
      } else if ((options.count_loads || options.value_slots != 0) && copies_memory(rewriter_, i)) {
        rewriter_.note("copies of memory are not counted among the loads");
      }
      if (site) {
        site->place.to = b;
        counted.sites.push_back(*site);
      }
      if (options.value_slots != 0 && is_counted_load(rewriter_, i)) {
        add_values(place, b, i, counted);
      }
      for (std::size_t s = instructions.size(); s < counted.sites.size(); ++s) {
        std::uint8_t& cells = counted.sites[s].cells;
        cells |= counted_here ? 0 : kLanes | kGroups;
        cells |= (cells & kUniform) != 0 && (cells & kUniformAddress) != 0 ? kUniformBoth : 0;
        counted_here = true;
      }
      instructions.resize(counted.sites.size(), at);
      counted_here = counted_here && !block_counts::may_change_group(i);
    }
  }
  return instructions;
}

void Counters::add(std::size_t index, std::span<const std::uint32_t> shaders, std::span<const std::uint32_t> origins) {
  Rewriter& r = rewriter_;
  Function& target = r.module.functions[index];
  const auto is_fragment = [&](std::uint32_t s) { return r.analysis.shaders[s].stage == Stage::Fragment; };
  if (std::any_of(shaders.begin(), shaders.end(), is_fragment) &&
      !std::all_of(shaders.begin(), shaders.end(), is_fragment)) {
    r.note("some functions are not counted: fragments and shaders of other stages share them");
    return;
  }
  std::string reason;
  const std::optional<spirv::ControlFlow> flow = spirv::control_flow(target, selectors_, reason);
  if (!flow) {
    r.note("some functions are not counted: " + reason);
    return;
  }
  CounterLayout& layout = r.result.counters;
  CountedFunction counted;
  counted.function = static_cast<std::uint32_t>(index);
  counted.first = layout.cells;
  for (const std::uint32_t s : shaders) {
    counted.shaders.push_back(r.analysis.shaders[s].id);
  }
  if (r.options.count_blocks) {
    add_blocks(static_cast<std::uint32_t>(index), *flow, counted);
  }
  definitions_.emplace(target);
  const std::vector<std::size_t> instructions =
      add_instructions(static_cast<std::uint32_t>(index), *flow, origins, counted);
  for (CounterSite& site : counted.sites) {
    site.cell = counted.cells;
    counted.cells += size_of(site);
  }
  const std::uint64_t slots = counted.shaders.back() - counted.shaders.front() + 1U;
  const std::uint64_t needed = layout.cells + slots * counted.cells;
  if (needed * layout.copies > kMaxCells) {
    r.note("some functions are not counted: more than " + std::to_string(kMaxCells) + " counts");
    return;
  }
  layout.cells = static_cast<std::uint32_t>(needed);
  target.body = with_calls(index, target, *flow, counted, instructions, shaders);
  definitions_.reset();
  if (!counted.sites.empty()) {
    layout.functions.push_back(std::move(counted));
  }
}

/// The function's body with the calls of the probes.
std::vector<Instruction> Counters::with_calls(std::size_t index, const Function& target, const spirv::ControlFlow& flow,
                                              const CountedFunction& counted,
                                              const std::vector<std::size_t>& instructions,
                                              std::span<const std::uint32_t> shaders) {
  const auto paths = paths_ != nullptr ? paths_->sites(index) : std::span<const block_counts::CounterSite>{};
  const Edits edits(flow, counted.sites, instructions, paths, rewriter_.linker);
  std::vector<Instruction> body;
  const auto call = [&](std::size_t site, const Instruction& instruction) {
    if (site != Edits::kNone) {
      count(body, counted, counted.sites[site], shaders, instruction);
    }
  };
  const auto count_path = [&](std::size_t site) {
    if (site != Edits::kNone) {
      paths_->count(body, index, site);
    }
  };
  std::size_t at = 0;
  for (Node b = 0; b < flow.blocks.size(); ++b) {
    const spirv::Block& block = flow.blocks[b];
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
      if (at == end) {
        call(edit.branch, target.body[block.last]);
        call(edit.at_end, instruction);
        count_path(edit.path_at_end);
      }
      if (instruction.is(Op::OpPhi)) {
        edits.mend(instruction, block.label);
      }
      if (at == block.last) {
        for (const Edits::Split& split : edit.splits) {
          redirect(instruction, selectors_.literal_words(instruction[1]), flow.blocks[split.to].label, split.label);
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
      if (at == start) {
        call(edit.at_start, target.body[at]);
        count_path(edit.path_at_start);
      }
      for (auto [load, last] = edits.loads.equal_range(at); load != last; ++load) {
        call(load->second, target.body[at]);
      }
    }
    for (const Edits::Split& split : edit.splits) {
      body.emplace_back(Op::OpLabel, std::initializer_list<Word>{split.label});
      call(split.site, target.body[block.last]);
      count_path(split.path);
      body.emplace_back(Op::OpBranch, std::initializer_list<Word>{flow.blocks[split.to].label});
    }
  }
  for (; at < target.body.size(); ++at) {
    body.push_back(target.body[at]);
  }
  return body;
}

}  // namespace rayreplay::instrument
