// Counters of blocks in the corpus: where they stand, and what stays of the application.
#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include <gtest/gtest.h>

#include "capture/block_counts/derived_counts.hpp"
#include "capture/block_counts/group_sources.hpp"
#include "capture/block_counts/invocation_ends.hpp"
#include "capture/instrument/instrument.hpp"
#include "tests/instrument/support/corpus.hpp"

namespace rayreplay {
namespace {

using block_counts::CounterSet;
using block_counts::kNoNode;
using spirv::Module;
using spv::Op;

instrument::Options counting(CounterSet set) {
  instrument::Options options = test::plain_options();
  options.count_blocks = set;
  return options;
}

Module parsed(const std::vector<std::uint32_t>& words) {
  std::string reason;
  auto module = spirv::parse(words, reason);
  EXPECT_TRUE(module) << reason;
  return std::move(*module);
}

spirv::ControlFlow flow_of(const Module& module, const spirv::Function& function) {
  std::string reason;
  auto flow = spirv::control_flow(function, spirv::WideSelectors(module), reason);
  EXPECT_TRUE(flow) << reason;
  return std::move(*flow);
}

/// Calls of a probe between a block's label and its end.
std::size_t calls(const spirv::Function& function, const spirv::Block& block, const std::set<spirv::Id>& probes) {
  return static_cast<std::size_t>(
      std::count_if(function.body.begin() + static_cast<std::ptrdiff_t>(block.first),
                    function.body.begin() + static_cast<std::ptrdiff_t>(block.last),
                    [&](const auto& i) { return i.is(Op::OpFunctionCall) && probes.contains(i[3]); }));
}

std::set<spirv::Id> counting_probes(const Module& module) {
  std::set<spirv::Id> probes;
  for (const auto& i : module.debug) {
    if (i.is(Op::OpName) && i.string(2).starts_with("rr_count_")) {
      probes.insert(i[1]);
    }
  }
  return probes;
}

/// The new block that a loop header's code moved to.
std::optional<spirv::Node> code_of(const spirv::ControlFlow& flow, spirv::Node block, spirv::Id bound) {
  const auto& next = flow.graph.successors[block];
  const bool moved = flow.blocks[block].continue_target != 0 && next.size() == 1 && flow.blocks[next[0]].label >= bound;
  return moved ? std::optional(next[0]) : std::nullopt;
}

TEST(BlockCounters, AllCountsEveryReachedBlockOnce) {
  std::size_t blocks = 0, moved = 0;
  for (const test::CorpusModule& module : test::corpus()) {
    const auto result = instrument::instrument(module.words, counting(CounterSet::All));
    if (result.status != instrument::Status::Instrumented) {
      continue;
    }
    const Module before = parsed(module.words);
    const Module after = parsed(result.spirv);
    const auto probes = counting_probes(after);
    for (const auto& counted : result.counters.functions) {
      const spirv::ControlFlow was = flow_of(before, before.functions.at(counted.function));
      const spirv::Function& function = after.functions.at(counted.function);
      const spirv::ControlFlow is = flow_of(after, function);
      std::map<spirv::Id, spirv::Node> now;
      for (spirv::Node b = 0; b < is.blocks.size(); ++b) {
        now[is.blocks[b].label] = b;
      }
      for (spirv::Node b = 0; b < was.blocks.size(); ++b) {
        const spirv::Node same = now.at(was.blocks[b].label);
        std::size_t found = calls(function, is.blocks[same], probes);
        if (const auto code = code_of(is, same, before.bound)) {
          EXPECT_EQ(found, 0U) << module.name << ": a call in a loop header";
          found += calls(function, is.blocks[*code], probes);
          ++moved;
        }
        EXPECT_EQ(found, was.reached(b) ? 1U : 0U) << module.name << " block " << b;
        const bool site = std::any_of(counted.sites.begin(), counted.sites.end(), [&](const auto& known) {
          return known.place == block_counts::CounterSite{kNoNode, b} && known.cells == 3;
        });
        EXPECT_EQ(site, was.reached(b)) << module.name;
        blocks += was.reached(b) ? 1U : 0U;
      }
    }
  }
  EXPECT_GT(blocks, 500U);
  EXPECT_GT(moved, 20U);
}

/// Each site has one call in its block; groups are counted at every source, and the lanes determine all others.
TEST(BlockCounters, SparseDeterminesEveryBlock) {
  std::size_t all = 0, groups = 0, lanes = 0;
  for (const test::CorpusModule& module : test::corpus()) {
    const auto result = instrument::instrument(module.words, counting(CounterSet::Sparse));
    if (result.status != instrument::Status::Instrumented) {
      continue;
    }
    const Module before = parsed(module.words);
    const Module after = parsed(result.spirv);
    const auto probes = counting_probes(after);
    const block_counts::InvocationEnds ends(before);
    for (const auto& counted : result.counters.functions) {
      const spirv::Function& given = before.functions.at(counted.function);
      const spirv::ControlFlow was = flow_of(before, given);
      const spirv::Function& function = after.functions.at(counted.function);
      const auto sources = block_counts::group_sources(given, was);
      std::size_t found = 0;
      for (const spirv::Block& block : flow_of(after, function).blocks) {
        found += calls(function, block, probes);
      }
      EXPECT_EQ(found, counted.sites.size()) << module.name;
      std::vector<bool> with_groups(was.blocks.size());
      std::vector<block_counts::CounterSite> counters;
      for (const auto& site : counted.sites) {
        EXPECT_EQ(site.place.from, kNoNode);
        if ((site.cells & instrument::kGroups) != 0) {
          with_groups.at(site.place.to) = true;
        }
        if ((site.cells & instrument::kLanes) != 0) {
          counters.push_back(site.place);
        }
      }
      for (spirv::Node b = 0; b < was.blocks.size(); ++b) {
        EXPECT_EQ(with_groups[b], was.reached(b) && sources[b] == b) << module.name << " block " << b;
        all += was.reached(b) ? 1U : 0U;
        groups += with_groups[b] ? 1U : 0U;
      }
      lanes += counters.size();
      const std::vector<std::uint64_t> none(counters.size(), 0);
      EXPECT_EQ(block_counts::derive_counts(was, ends.blocks_of(given, was), counters, none).fault, "") << module.name;
    }
  }
  EXPECT_LT(groups, all);
  EXPECT_LT(lanes, all * 7 / 10);
}

/// Each site has one call; the functions keep their blocks, with new ones between them that branch on.
TEST(BlockCounters, MinimalHasFewerOnesAndKeepsTheBlocks) {
  std::size_t all = 0, minimal = 0, on_edges = 0, fallen_back = 0;
  for (const test::CorpusModule& module : test::corpus()) {
    const auto result = instrument::instrument(module.words, counting(CounterSet::Minimal));
    if (result.status != instrument::Status::Instrumented) {
      continue;
    }
    for (const std::string& note : result.notes) {
      fallen_back += note.starts_with("every block") ? 1U : 0U;
    }
    const Module before = parsed(module.words);
    const Module after = parsed(result.spirv);
    const auto probes = counting_probes(after);
    for (const auto& counted : result.counters.functions) {
      const spirv::ControlFlow was = flow_of(before, before.functions.at(counted.function));
      const spirv::Function& function = after.functions.at(counted.function);
      const spirv::ControlFlow is = flow_of(after, function);
      std::size_t found = 0;
      std::set<spirv::Id> labels;
      for (const spirv::Block& block : is.blocks) {
        found += calls(function, block, probes);
        labels.insert(block.label);
      }
      for (spirv::Node b = 0; b < is.blocks.size(); ++b) {
        const auto& from = is.graph.predecessors[b];
        const spirv::Block& block = is.blocks[b];
        if (block.label >= before.bound && code_of(is, from.at(0), before.bound) != b) {
          EXPECT_EQ(block.last - block.first, 2U) << module.name;
          EXPECT_EQ(block.ending, spirv::Ending::Branch);
          ++on_edges;
        }
      }
      EXPECT_EQ(found, counted.sites.size()) << module.name;
      for (const spirv::Block& block : was.blocks) {
        EXPECT_TRUE(labels.contains(block.label)) << module.name;
        all += 1;
      }
      minimal += counted.sites.size();
    }
  }
  EXPECT_LT(minimal, all * 6 / 10);
  EXPECT_GT(on_edges, 0U);
  EXPECT_EQ(fallen_back, 0U);
}

TEST(BlockCounters, FunctionsOfSeveralShadersHaveCountersOfEach) {
  const auto& module = test::corpus_module("shared_functions.spvasm");
  const auto result = instrument::instrument(module.words, counting(CounterSet::All));
  ASSERT_EQ(result.status, instrument::Status::Instrumented);
  std::uint32_t next = 0;
  std::size_t shared = 0;
  for (const auto& counted : result.counters.functions) {
    EXPECT_EQ(counted.first, next);
    EXPECT_EQ(counted.cells, 2 * counted.sites.size());
    next += (counted.shaders.back() - counted.shaders.front() + 1U) * counted.cells;
    shared += counted.shaders.size() > 1 ? 1U : 0U;
  }
  EXPECT_EQ(result.counters.cells, next);
  EXPECT_GT(shared, 0U);
}

TEST(BlockCounters, TheAddressIsAConstantOfItsOwn) {
  const auto& module = test::corpus_module("blocks.rgen");
  auto result = instrument::instrument(module.words, counting(CounterSet::All));
  ASSERT_EQ(result.status, instrument::Status::Instrumented);
  const std::size_t at = result.counters.address_word;
  ASSERT_LT(at + 1, result.spirv.size());
  EXPECT_EQ(result.spirv[at], 0U);
  EXPECT_EQ(result.spirv[at + 1], 0U);
  EXPECT_EQ(result.spirv[at - 3], (5U << 16) | static_cast<std::uint32_t>(Op::OpConstant));
  result.spirv[at] = 0x1230;
  result.spirv[at + 1] = 0x4;
  EXPECT_EQ(test::validate(result.spirv, module.environment), "");
}

TEST(InvocationEnds, AreInCallersToo) {
  const Module module = parsed(test::corpus_module("blocks.rahit.vulkan1.2.source").words);
  const block_counts::InvocationEnds ends(module);
  std::size_t inside = 0;
  for (const spirv::Function& function : module.functions) {
    const auto blocks = ends.blocks_of(function, flow_of(module, function));
    inside += static_cast<std::size_t>(std::count(blocks.begin(), blocks.end(), true));
  }
  EXPECT_EQ(inside, 2U);  // the two calls of decide()
}

}  // namespace
}  // namespace rayreplay
